/** An error of Meta's, from an answer of the Graph API or from a status in a webhook. */
export interface GraphError {
  readonly code: number | null;
  readonly title?: string | null;
  readonly message?: string | null;
  /** `error_data.details` */
  readonly details?: string | null;
}

interface KnownError {
  /** What happened and what to do, for the team. */
  readonly words: string;
  /** It passes by itself within minutes. */
  readonly isTemporary?: true;
}

const TOKEN =
  'Meta does not take the access token: it has expired or was withdrawn. Make a new one of a system user and enter it under Channels.';
const PERMISSION =
  'The access token may not do this. Give its system user the permission whatsapp_business_messaging and access to the WhatsApp account.';
const RATE = 'Too many messages were sent at once; Meta asks to wait.';
const OUTAGE = 'WhatsApp is not available at the moment.';
const TEMPLATE = 'WhatsApp refused a message template. Check the template in WhatsApp Manager.';
const REGISTRATION =
  'The number is not registered with the Cloud API. Register it in WhatsApp Manager.';
const REQUEST = 'WhatsApp did not understand the message.';

/**
 * Codes that Meta documents. Handling follows the code: titles and subcodes are deprecated.
 * @see developers.facebook.com, WhatsApp, "Error codes"
 */
const KNOWN: Readonly<Record<number, KnownError>> = {
  0: { words: TOKEN },
  1: { words: 'Meta had an unknown error.', isTemporary: true },
  2: { words: OUTAGE, isTemporary: true },
  3: { words: PERMISSION },
  4: { words: RATE, isTemporary: true },
  10: { words: PERMISSION },
  33: {
    words: 'The phone number does not exist any more. Check the phone number ID under Channels.',
  },
  100: { words: REQUEST },
  190: { words: TOKEN },
  368: {
    words: 'Meta has blocked the account for a time because of its policies. See WhatsApp Manager.',
  },
  80007: { words: RATE, isTemporary: true },
  130429: { words: RATE, isTemporary: true },
  130472: {
    words:
      'WhatsApp did not deliver the message, because the customer takes part in an experiment of Meta.',
  },
  130497: { words: 'The account may not write to customers in this country.' },
  131000: { words: 'WhatsApp had an unknown error.', isTemporary: true },
  131005: { words: PERMISSION },
  131006: { words: 'The phone number ID is not known to Meta. Check it under Channels.' },
  131008: { words: REQUEST },
  131009: { words: REQUEST },
  131016: { words: OUTAGE, isTemporary: true },
  131021: {
    words: 'The customer has the same number as the account; WhatsApp sends nothing to itself.',
  },
  131026: {
    words:
      'WhatsApp cannot deliver to this customer: the number may not be on WhatsApp, or their app is too old, or they have not accepted the terms.',
  },
  131030: {
    words:
      'The account is a test account, and the number is not on its list. Add it in the Meta app under WhatsApp, API Setup.',
  },
  131031: { words: 'Meta has locked the account. See WhatsApp Manager.' },
  131037: { words: 'The display name of the number is not approved yet. See WhatsApp Manager.' },
  131042: {
    words:
      'There is a problem with the payment method of the WhatsApp account. Check it in WhatsApp Manager under Billing.',
  },
  131045: { words: REGISTRATION },
  131047: {
    words:
      'More than 24 hours have passed since the customer last wrote. Wait until they write again.',
  },
  131048: {
    words:
      'Meta restricts what this number may send, because messages were blocked or reported as spam. See its quality in WhatsApp Manager.',
  },
  131049: {
    words:
      'Meta chose not to deliver the message, to keep the number of such messages low. Wait before writing again.',
  },
  131050: { words: 'The customer does not want such messages from the account.' },
  131051: { words: 'WhatsApp does not support this type of message.' },
  131052: { words: 'WhatsApp could not load what the customer sent. Ask them to send it again.' },
  131053: { words: 'WhatsApp could not take the file.' },
  131056: {
    words: 'Too many messages went to this customer in a short time; Meta asks to wait.',
    isTemporary: true,
  },
  131057: { words: 'The WhatsApp account is in maintenance.', isTemporary: true },
  131062: { words: 'WhatsApp cannot send this to a customer who hides the phone number.' },
  133004: { words: OUTAGE, isTemporary: true },
  133005: { words: 'The two-step PIN of the number is wrong. See WhatsApp Manager.' },
  133006: { words: 'The number must be verified before it is registered. See WhatsApp Manager.' },
  133010: { words: REGISTRATION },
};

function find(code: number | null): KnownError | undefined {
  if (code === null) return undefined;
  if (code >= 200 && code <= 299) return { words: PERMISSION };
  if (Math.floor(code / 1000) === 132) return { words: TEMPLATE };
  return KNOWN[code] ?? (Math.floor(code / 1000) === 133 ? { words: REGISTRATION } : undefined);
}

/**
 * In plain words, with Meta's own details where the code says too little, and the code to look up.
 */
export function errorInWords({ code, title, message, details }: GraphError): string {
  const words = find(code)?.words;
  const number = code === null ? '' : ` (Meta's error ${code})`;
  if (words !== undefined && words !== REQUEST && words !== TEMPLATE)
    return `${words.slice(0, -1)}${number}.`;
  const own = scrubbed(details || message || title || '');
  const said = own === '' ? '' : ` Meta says: ${own}`;
  return `${(words ?? 'WhatsApp refused the message.').slice(0, -1)}${number}.${said}`;
}

/** Whether the same message may go through in a moment; null when the code does not tell. */
export function isTemporary(code: number | null): boolean | null {
  const known = find(code);
  return known ? known.isTemporary === true : null;
}

const MAX_DETAIL_CHARACTERS = 300;

/** Meta sometimes repeats a token or a number: neither is kept. */
function scrubbed(text: string): string {
  const clean = text
    .replace(/[\p{L}\d_-]{24,}/gu, '[removed]')
    .replace(/\+?\d[\d\s().-]{5,}\d/g, '[removed]')
    .replace(/\s+/g, ' ')
    .trim();
  return clean.length > MAX_DETAIL_CHARACTERS
    ? `${clean.slice(0, MAX_DETAIL_CHARACTERS).toWellFormed()}…`
    : clean;
}
