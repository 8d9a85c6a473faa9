// Meta's Graph API on this machine: sending WhatsApp messages and reading a phone number, in the
// documented shapes.
import { randomBytes } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { readJson, respondJson, writeForEver } from './jsonServer.ts';
import { listenTracked, type TrackedServer } from './trackedServer.ts';

/** What a good client sends to `/{version}/{phone_number_id}/messages`. */
interface GraphMessageBody {
  readonly messaging_product: 'whatsapp';
  readonly recipient_type: 'individual';
  /** A phone number; or `recipient`, a business-scoped user id. */
  readonly to?: string;
  readonly recipient?: string;
  readonly type: 'text' | 'interactive';
  /** Of type `text`. */
  readonly text: { readonly body: string; readonly preview_url?: boolean };
  /** Of type `interactive`. */
  readonly interactive: GraphInteractive;
  readonly biz_opaque_callback_data?: string;
}

interface GraphInteractive {
  readonly type: 'button' | 'list';
  readonly body: { readonly text: string };
  readonly action: {
    readonly buttons?: readonly { readonly type: 'reply'; readonly reply: GraphTitle }[];
    readonly button?: string;
    readonly sections?: readonly {
      readonly title: string;
      readonly rows: readonly GraphTitle[];
    }[];
  };
}

interface GraphTitle {
  readonly id: string;
  readonly title: string;
}

/** A valid request to send, whatever it was answered. */
interface GraphRequest {
  readonly at: number;
  readonly phoneNumberId: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: GraphMessageBody;
}

/**
 * A message that the server has taken: Meta would bring it to the customer, also when its answer
 * was lost.
 */
export interface TakenMessage extends GraphRequest {
  /** `wamid.…` */
  readonly id: string;
}

/** Writes one answer. `take` says that Meta has the message, and gives its id. */
export type GraphReply = (
  res: ServerResponse,
  take: () => TakenMessage,
  request: GraphRequest,
) => void;

interface GraphNumber {
  readonly id: string;
  readonly display_phone_number: string;
  readonly verified_name: string;
  readonly quality_rating: string;
  readonly platform_type: string;
}

export type WhatsAppStatus = 'sent' | 'delivered' | 'read' | 'failed';

export interface GraphServer extends TrackedServer {
  /** For GRAPH_API_URL: `http://127.0.0.1:<port>`, without the version. */
  readonly url: string;
  readonly version: string;
  /** The one token that is taken. */
  readonly accessToken: string;
  /** Of the first number. */
  readonly phoneNumberId: string;
  /** Every valid request to send, oldest first; the answers may have been errors. */
  readonly requests: readonly GraphRequest[];
  /** The ids of the customers' messages under which typing was shown, oldest first. */
  readonly typings: readonly string[];
  /** What was taken, oldest first. */
  readonly taken: readonly TakenMessage[];
  /** The texts of what was taken, in order. */
  texts(): readonly string[];
  /**
   * What was wrong with requests by Meta's documentation; a good client leaves it empty. A wrong
   * token or number does not count.
   */
  readonly faults: readonly string[];
  /**
   * Answers of the next requests to send, in order; after them `answerBy`'s, else all are taken.
   */
  answerWith(...replies: GraphReply[]): void;
  /** From now on, showing that somebody types fails. */
  refuseTyping(): void;
  /** Chooses the answer by the request, when `answerWith` has none left. */
  answerBy(script: (request: GraphRequest) => GraphReply): void;
  /** The answer to the next GETs of a phone number, in order; after them the number. */
  answerNumberWith(...replies: GraphReply[]): void;
  /**
   * The body of the webhook with which Meta tells how far a message has come; to be signed with the
   * app's secret.
   */
  statusWebhook(
    message: TakenMessage,
    status: WhatsAppStatus,
    errors?: readonly GraphStatusError[],
  ): unknown;
}

export interface GraphStatusError {
  readonly code: number;
  readonly title: string;
  readonly message?: string;
  readonly error_data?: { readonly details: string };
}

interface GraphServerOptions {
  readonly version?: string;
  readonly accessToken?: string;
  readonly numbers?: readonly GraphNumber[];
  readonly port?: number;
}

export const TEST_NUMBER: GraphNumber = {
  id: '106540352242922',
  display_phone_number: '+1 555-078-3881',
  verified_name: 'Jaspers Market',
  quality_rating: 'GREEN',
  platform_type: 'CLOUD_API',
};

/**
 * Starts the server on a free port; everything valid is taken unless something else is scripted.
 */
export async function startGraphServer({
  version = 'v24.0',
  accessToken = `EAAGtest${'x'.repeat(40)}`,
  numbers = [TEST_NUMBER],
  port = 0,
}: GraphServerOptions = {}): Promise<GraphServer> {
  const requests: GraphRequest[] = [];
  const taken: TakenMessage[] = [];
  const typings: string[] = [];
  let takesTyping = true;
  const faults: string[] = [];
  const queue: GraphReply[] = [];
  const numberQueue: GraphReply[] = [];
  let script: (request: GraphRequest) => GraphReply = () => accept;

  const fault = (res: ServerResponse, words: string, details: string) => {
    faults.push(words);
    respondError(res, 400, {
      message: '(#100) Invalid parameter',
      code: 100,
      error_data: { messaging_product: 'whatsapp', details },
    });
  };

  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const url = new URL(req.url ?? '/', 'http://graph');
    const body = await readJson(req);
    const [, askedVersion, id, edge, ...rest] = url.pathname.split('/');
    if (askedVersion !== version || id === undefined || rest.length > 0)
      return fault(res, `${req.method} ${url.pathname}`, 'Unknown path components');
    const number = numbers.find((each) => each.id === id);
    if (req.headers.authorization !== `Bearer ${accessToken}`)
      return respondError(res, 401, INVALID_TOKEN);
    if (!number) return respondError(res, 400, unknownObject(req.method ?? '', id));
    const request = (body: GraphMessageBody) => ({
      at: Date.now(),
      phoneNumberId: id,
      headers: req.headers,
      body,
    });
    if (req.method === 'GET' && edge === undefined) {
      const asked = (url.searchParams.get('fields') ?? 'id').split(',');
      const scripted = numberQueue.shift();
      if (scripted)
        return scripted(
          res,
          () => {
            throw new Error('a GET takes no message');
          },
          request({} as GraphMessageBody),
        );
      const known = Object.entries(number).filter(
        ([name]) => name === 'id' || asked.includes(name),
      );
      return respond(res, 200, Object.fromEntries(known));
    }
    if (req.method !== 'POST' || edge !== 'messages')
      return fault(res, `${req.method} ${url.pathname}`, 'Unsupported request');
    if (isTyping(body)) {
      typings.push(body.message_id);
      return respond(res, takesTyping ? 200 : 500, { success: takesTyping });
    }
    const wrong = messageFault(req.headers, body);
    if (wrong !== null) return fault(res, wrong, wrong);
    const asked = request(body as GraphMessageBody);
    requests.push(asked);
    const take = () => {
      const message = { ...asked, id: `wamid.${randomBytes(24).toString('base64')}` };
      taken.push(message);
      return message;
    };
    (queue.shift() ?? script(asked))(res, take, asked);
  };

  const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()));
  const tracked = await listenTracked(server, port, '127.0.0.1');
  const numberOf = ({ phoneNumberId }: GraphRequest) =>
    numbers.find(({ id }) => id === phoneNumberId)!;
  return Object.assign(tracked, {
    url: `http://127.0.0.1:${tracked.port}`,
    version,
    accessToken,
    phoneNumberId: numbers[0]!.id,
    requests,
    taken,
    typings,
    texts: () =>
      taken.map(({ body: { type, text, interactive } }) =>
        type === 'text' ? text.body : interactive.body.text,
      ),
    faults,
    refuseTyping: () => {
      takesTyping = false;
    },
    answerWith: (...replies: GraphReply[]) => void queue.push(...replies),
    answerBy: (next: (request: GraphRequest) => GraphReply) => {
      script = next;
    },
    answerNumberWith: (...replies: GraphReply[]) => void numberQueue.push(...replies),
    statusWebhook: (
      message: TakenMessage,
      status: WhatsAppStatus,
      errors?: readonly GraphStatusError[],
    ) => statusWebhook(numberOf(message), message, status, errors),
  });
}

/** @returns what Meta would refuse, in words; null for a good request to send a text */
function messageFault(headers: IncomingHttpHeaders, body: unknown): string | null {
  if (!/^application\/json\b/.test(headers['content-type'] ?? ''))
    return `Content-Type is ${headers['content-type']}`;
  if (typeof body !== 'object' || body === null) return 'the body is no JSON object';
  const {
    messaging_product,
    recipient_type,
    to,
    recipient,
    type,
    text,
    interactive,
    biz_opaque_callback_data: data,
    ...more
  } = body as Record<string, unknown>;
  if (Object.keys(more).length > 0) return `unknown: ${Object.keys(more).join()}`;
  if (messaging_product !== 'whatsapp') return 'messaging_product must be whatsapp';
  if (recipient_type !== 'individual') return 'recipient_type must be individual';
  if (
    to === undefined
      ? typeof recipient !== 'string' || recipient === ''
      : typeof to !== 'string' || !/^\+?\d{6,15}$/.test(to)
  )
    return 'to must be a phone number, or recipient a user id';
  const content =
    type === 'text'
      ? wordsFault('text.body', (text as { body?: unknown } | undefined)?.body, 4096)
      : type === 'interactive'
        ? interactiveFault(interactive)
        : 'type must be text or interactive';
  if (content !== null) return content;
  if (data !== undefined && (typeof data !== 'string' || data.length > 512))
    return 'biz_opaque_callback_data must be a string of at most 512 characters';
  return null;
}

/** "Typing indicators" of Meta's documentation. */
const isTyping = (body: unknown): body is { message_id: string } => {
  const { messaging_product, status, message_id, typing_indicator, ...more } = (body ??
    {}) as Record<string, unknown>;
  return (
    messaging_product === 'whatsapp' &&
    status === 'read' &&
    /^wamid\./.test(String(message_id)) &&
    (typing_indicator as { type?: unknown } | undefined)?.type === 'text' &&
    Object.keys(more).length === 0
  );
};

function wordsFault(name: string, words: unknown, most: number): string | null {
  if (typeof words !== 'string' || words.trim() === '') return `${name} is required`;
  if ([...words].length > most) return `${name} must be at most ${most} characters long`;
  return words.isWellFormed() ? null : `${name} is not Unicode`;
}

/** "Interactive reply buttons messages" and "Interactive list messages" of Meta's documentation. */
function interactiveFault(given: unknown): string | null {
  const { type, body, action, ...more } = (given ?? {}) as Partial<GraphInteractive>;
  if (Object.keys(more).length > 0) return `unknown: interactive.${Object.keys(more).join()}`;
  const { buttons, button, sections, ...others } = action ?? {};
  if (Object.keys(others).length > 0) return `unknown: action.${Object.keys(others).join()}`;
  const words = wordsFault('interactive.body.text', body?.text, 1024);
  if (words !== null) return words;
  if (type === 'button') {
    if (!Array.isArray(buttons) || buttons.length < 1 || buttons.length > 3)
      return 'action.buttons must be 1 to 3';
    if (buttons.some((each) => each.type !== 'reply')) return 'a button must be of type reply';
    const replies = buttons.map((each: { reply: GraphTitle }) => each.reply);
    return titlesFault(replies, { title: 20, id: 256 });
  }
  if (type !== 'list') return 'interactive.type must be button or list';
  const label = wordsFault('action.button', button, 20);
  if (label !== null) return label;
  const [section, second] = sections ?? [];
  if (section === undefined || second !== undefined) return 'one section is expected';
  if (section.rows.length < 1 || section.rows.length > 10) return 'rows must be 1 to 10';
  return (
    wordsFault('section.title', section.title, 24) ??
    titlesFault(section.rows, { title: 24, id: 200 })
  );
}

function titlesFault(
  titles: readonly GraphTitle[],
  most: { readonly title: number; readonly id: number },
): string | null {
  const faults = titles.map(
    ({ id, title }) => wordsFault('title', title, most.title) ?? wordsFault('id', id, most.id),
  );
  const isUnique = (name: keyof GraphTitle) =>
    new Set(titles.map((each) => each[name])).size === titles.length;
  if (!isUnique('title') || !isUnique('id')) return 'titles and ids must be unique';
  return faults.find((fault) => fault !== null) ?? null;
}

const statusWebhook = (
  number: GraphNumber,
  { id, body }: TakenMessage,
  status: WhatsAppStatus,
  errors: readonly GraphStatusError[] = [],
) => ({
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '102290129340398',
      changes: [
        {
          field: 'messages',
          value: {
            messaging_product: 'whatsapp',
            metadata: {
              display_phone_number: number.display_phone_number.replace(/\D/g, ''),
              phone_number_id: number.id,
            },
            statuses: [
              {
                id,
                status,
                timestamp: String(Math.floor(Date.now() / 1000)),
                ...(body.to === undefined
                  ? { recipient_user_id: body.recipient }
                  : { recipient_id: body.to.replace(/\D/g, '') }),
                ...(body.biz_opaque_callback_data === undefined
                  ? {}
                  : { biz_opaque_callback_data: body.biz_opaque_callback_data }),
                ...(errors.length === 0 ? {} : { errors }),
              },
            ],
          },
        },
      ],
    },
  ],
});

// --- Answers ---------------------------------------------------------------

const respond = (
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  respondJson(res, status, body, {
    'content-type': 'application/json; charset=UTF-8',
    ...headers,
  });

interface GraphErrorBody {
  readonly message: string;
  readonly code: number;
  readonly type?: string;
  readonly error_subcode?: number;
  readonly error_data?: { readonly messaging_product?: string; readonly details: string };
}

const respondError = (
  res: ServerResponse,
  status: number,
  error: GraphErrorBody,
  headers: Record<string, string> = {},
) =>
  respond(
    res,
    status,
    { error: { type: 'OAuthException', fbtrace_id: 'AbCdEfGhIjKlMnOpQrStUvW', ...error } },
    headers,
  );

const INVALID_TOKEN: GraphErrorBody = {
  message: 'Invalid OAuth access token - Cannot parse access token',
  code: 190,
};

const unknownObject = (method: string, id: string): GraphErrorBody => ({
  message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
  type: 'GraphMethodException',
  code: 100,
  error_subcode: 33,
});

/** Takes the message and says so. */
export const accept: GraphReply = (res, take) => {
  const { id, body } = take();
  const contact =
    body.to === undefined
      ? { input: body.recipient, user_id: body.recipient }
      : { input: body.to, wa_id: body.to.replace(/\D/g, '') };
  respond(res, 200, { messaging_product: 'whatsapp', contacts: [contact], messages: [{ id }] });
};

/** Meta's form of an error. */
export const graphError =
  (
    status: number,
    error: Partial<GraphErrorBody> & { code: number },
    headers: Record<string, string> = {},
  ): GraphReply =>
  (res) =>
    respondError(res, status, { message: `(#${error.code}) An error`, ...error }, headers);

/** Too many requests, with the wait that is asked for in seconds or as an HTTP date. */
export const tooMany = (retryAfter: string | null = null): GraphReply =>
  graphError(
    429,
    { code: 130429, message: '(#130429) Rate limit hit' },
    retryAfter === null ? {} : { 'retry-after': retryAfter },
  );

/** Any status, body and headers. */
export const raw =
  (
    status: number,
    body: string,
    headers: Record<string, string> = { 'content-type': 'text/html' },
  ): GraphReply =>
  (res) =>
    void res.writeHead(status, headers).end(body);

/** Never answers, and the message is not taken. */
export const hang: GraphReply = () => {};

/** Takes the message and never answers: the sender does not learn whether it was taken. */
export const takeAndHang: GraphReply = (_res, take) => void take();

/** Hangs up without an answer. */
export const reset: GraphReply = (res) => void res.socket?.destroy();

/** Takes the message and hangs up. */
export const takeAndReset: GraphReply = (res, take) => {
  take();
  res.socket?.destroy();
};

/** Takes the message and hangs up in the middle of saying so. */
export const takeAndCut: GraphReply = (res, take) => {
  take();
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  res.write('{"messaging_product":"whatsapp","messages":[{"id":', () => res.destroy());
};

/** A body without end, as fast as it is read. */
export const hugeBody =
  (status = 200): GraphReply =>
  (res) =>
    writeForEver(res, status);
