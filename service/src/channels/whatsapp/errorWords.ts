import { shorten } from '../../platform/shorten.ts';

/** An error from Meta: in an answer of the Graph API, or in a status of a webhook. */
export interface GraphError {
  readonly code: number | null;
  readonly title?: string | null;
  readonly message?: string | null;
  /** `error_data.details` */
  readonly details?: string | null;
}

const TOKEN =
  'Meta rejected the access token: it has expired or was revoked. Create a new one for a system user and enter it under Channels.';
const PERMISSION =
  'The access token may not do this. Give its system user the permission whatsapp_business_messaging and access to the WhatsApp account.';
const RATE = 'Too many messages were sent at once. Meta asks to wait.';
const OUTAGE = 'WhatsApp is not available at the moment.';
const TEMPLATE = 'WhatsApp rejected a message template. Check the template in WhatsApp Manager.';
const REGISTRATION =
  'The number is not registered with the Cloud API. Register it in WhatsApp Manager.';
const REQUEST = 'WhatsApp could not read the message.';
const UNKNOWN = 'WhatsApp rejected the message.';
/** Sentences that say little, so Meta's details follow them. */
const VAGUE: readonly string[] = [REQUEST, TEMPLATE, UNKNOWN];

/**
 * What happened and what to do, for the team, by the codes that Meta documents. Only the code
 * decides, since titles and subcodes are deprecated.
 * @see developers.facebook.com, WhatsApp, "Error codes"
 */
const KNOWN: Readonly<Record<number, string>> = {
  0: TOKEN,
  1: 'Meta had an unknown error.',
  2: OUTAGE,
  3: PERMISSION,
  4: RATE,
  10: PERMISSION,
  33: 'The phone number no longer exists. Check the phone number ID under Channels.',
  100: REQUEST,
  190: TOKEN,
  368: 'Meta has temporarily blocked the account for a policy violation. See WhatsApp Manager.',
  80007: RATE,
  130429: RATE,
  130472: 'WhatsApp did not deliver the message because the customer is part of a Meta experiment.',
  130497: 'The account may not message customers in this country.',
  131000: 'WhatsApp had an unknown error.',
  131005: PERMISSION,
  131006: 'Meta does not know the phone number ID. Check it under Channels.',
  131008: REQUEST,
  131009: REQUEST,
  131016: OUTAGE,
  131021:
    'The customer has the same number as the account. WhatsApp does not deliver to the sender.',
  131026:
    'WhatsApp cannot deliver to this customer. The number may not be on WhatsApp, their app may be out of date, or they have not accepted the latest terms.',
  131030:
    'This is a test account, and the number is not on its list. Add the number in the Meta app under WhatsApp, API Setup.',
  131031: 'Meta has locked the account. See WhatsApp Manager.',
  131037: 'The display name of the number is not approved yet. See WhatsApp Manager.',
  131042:
    'The WhatsApp account has a problem with its payment method. Check it in WhatsApp Manager under Billing.',
  131045: REGISTRATION,
  131047:
    'More than 24 hours have passed since the customer last wrote. Wait until they write again.',
  131048:
    'Meta limits this number because customers blocked or reported its messages. See its quality rating in WhatsApp Manager.',
  131049:
    'Meta did not deliver the message, to limit how many such messages a customer gets. Wait before you write again.',
  131050: 'The customer has opted out of such messages from this account.',
  131051: 'WhatsApp does not support this type of message.',
  131052: 'WhatsApp could not load what the customer sent. Ask them to send it again.',
  131053: 'WhatsApp could not accept the file.',
  131056: 'Too many messages went to this customer in a short time. Meta asks to wait.',
  131057: 'The WhatsApp account is under maintenance.',
  131062: 'WhatsApp cannot send this to a customer who hides their phone number.',
  133004: OUTAGE,
  133005: 'The two-step verification PIN of the number is wrong. See WhatsApp Manager.',
  133006: 'The number must be verified before it is registered. See WhatsApp Manager.',
  133010: REGISTRATION,
};

/** Codes of problems that go away by themselves within minutes. */
const TEMPORARY: readonly number[] = [
  1, 2, 4, 80007, 130429, 131000, 131016, 131056, 131057, 133004,
];

function wordsFor(code: number | null): string | undefined {
  if (code === null) return undefined;
  if (code >= 200 && code <= 299) return PERMISSION;
  if (Math.floor(code / 1000) === 132) return TEMPLATE;
  return KNOWN[code] ?? (Math.floor(code / 1000) === 133 ? REGISTRATION : undefined);
}

/** For the team: what happened, the code to look up and, if that says little, Meta's details. */
export function errorInWords({ code, title, message, details }: GraphError): string {
  const words = wordsFor(code) ?? UNKNOWN;
  const number = code === null ? '' : ` (Meta's error ${code})`;
  const sentence = `${words.slice(0, -1)}${number}.`;
  const said = VAGUE.includes(words) ? scrubbed(details || message || title || '') : '';
  return said === '' ? sentence : `${sentence} Meta says: ${said}`;
}

/** Whether a retry may soon succeed; null when the code does not say. */
export const isTemporary = (code: number | null): boolean | null =>
  code === null || wordsFor(code) === undefined ? null : TEMPORARY.includes(code);

const MAX_DETAIL_CHARACTERS = 300;

/** Removes tokens and phone numbers, which Meta sometimes repeats. */
function scrubbed(text: string): string {
  const clean = text
    .replace(/[\p{L}\d_-]{24,}/gu, '[removed]')
    .replace(/\+?\d[\d\s().-]{5,}\d/g, '[removed]')
    .replace(/\s+/g, ' ')
    .trim();
  return shorten(clean, MAX_DETAIL_CHARACTERS);
}
