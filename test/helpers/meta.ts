// Meta's side of the WhatsApp webhook: bodies in the documented shapes, signed as Meta signs them,
// without any code of the service.
import { createHmac, randomBytes } from 'node:crypto';
import type { ApiClient } from './apiClient.ts';

/** The numbers of Meta's own examples. */
export const PHONE_NUMBER_ID = '106540352242922';
export const CUSTOMER = '16505551234';
const DISPLAY_NUMBER = '15550783881';
const WHATSAPP_ACCOUNT = '102290129340398';

type Fields = Record<string, unknown>;

/** One `value` of a change. */
export const metaValue = (
  content: {
    contacts?: readonly unknown[];
    messages?: readonly unknown[];
    statuses?: readonly unknown[];
  },
  account = PHONE_NUMBER_ID,
): Fields => ({
  messaging_product: 'whatsapp',
  metadata: { display_phone_number: DISPLAY_NUMBER, phone_number_id: account },
  ...content,
});

/** A whole body: one entry, with a change for each value. */
export const metaBody = (...values: readonly Fields[]): Fields => ({
  object: 'whatsapp_business_account',
  entry: [metaEntry(...values)],
});

export const metaEntry = (...values: readonly Fields[]): Fields => ({
  id: WHATSAPP_ACCOUNT,
  changes: values.map((value) => ({ value, field: 'messages' })),
});

/** An id in the form of WhatsApp's. */
export const newWamid = (): string => `wamid.${randomBytes(36).toString('base64')}`;

/** A text as it stands among the `messages` of a value. */
export const textMessage = (from: string, body: string, id = newWamid()): Fields => ({
  from,
  id,
  timestamp: '1739321024',
  type: 'text',
  text: { body },
});

export interface FromCustomer {
  /** Null: hidden. */
  readonly phone?: string | null;
  readonly userId?: string | null;
  readonly name?: string;
  readonly account?: string;
  readonly id?: string;
  /** Unix seconds. */
  readonly timestamp?: string;
}

/** A body with one message: its kind and content, and who it is from. */
export const metaMessage = (
  message: Fields,
  {
    phone = CUSTOMER,
    userId = null,
    name = 'Sheena Nelson',
    account,
    id = newWamid(),
    timestamp = String(Math.floor(Date.now() / 1000)),
  }: FromCustomer = {},
): Fields =>
  metaBody(
    metaValue(
      {
        contacts: [
          {
            profile: { name },
            ...(phone === null ? {} : { wa_id: phone }),
            ...(userId === null ? {} : { user_id: userId }),
          },
        ],
        messages: [
          {
            ...(phone === null ? {} : { from: phone }),
            ...(userId === null ? {} : { from_user_id: userId }),
            id,
            timestamp,
            ...message,
          },
        ],
      },
      account,
    ),
  );

export const metaText = (body: string, from?: FromCustomer): Fields =>
  metaMessage({ type: 'text', text: { body } }, from);

/** A body with one status of a message of ours. */
export const metaStatus = (status: Fields, account?: string): Fields =>
  metaBody(
    metaValue(
      {
        statuses: [
          { timestamp: String(Math.floor(Date.now() / 1000)), recipient_id: CUSTOMER, ...status },
        ],
      },
      account,
    ),
  );

export const sign = (bytes: string | Buffer, appSecret: string): string =>
  `sha256=${createHmac('sha256', appSecret).update(bytes).digest('hex')}`;

export interface ConnectedNumber {
  readonly id: string;
  readonly account: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  /** `/api/channels/whatsapp_cloud/webhook/chan_…` */
  readonly path: string;
}

/** Connects a WhatsApp number by the API. */
export async function connectNumber(
  api: ApiClient,
  {
    account = PHONE_NUMBER_ID,
    appSecret = randomBytes(16).toString('hex'),
    accessToken = `EAAG${randomBytes(20).toString('hex')}`,
  }: { account?: string; appSecret?: string; accessToken?: string } = {},
): Promise<ConnectedNumber> {
  const settings = { phone_number_id: account, access_token: accessToken, app_secret: appSecret };
  const { status, body } = await api.post('/api/channels', {
    type: 'whatsapp_cloud',
    name: `Number ${account}`,
    settings,
  });
  if (status !== 201) throw new Error(`not connected: ${JSON.stringify(body)}`);
  return {
    id: body.id,
    account,
    appSecret,
    verifyToken: body.settings.verify_token,
    path: new URL(body.webhook_url).pathname,
  };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Delivers a body to a number's address, signed with its app's secret unless told otherwise. */
export async function deliver(
  url: string,
  number: ConnectedNumber,
  body: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<Answer> {
  const bytes = typeof body === 'string' ? body : JSON.stringify(body);
  const sent = {
    'content-type': 'application/json',
    'x-hub-signature-256': sign(bytes, number.appSecret),
    ...headers,
  };
  const response = await fetch(url + number.path, {
    method: 'POST',
    headers: Object.entries(sent).filter(
      (header): header is [string, string] => header[1] !== undefined,
    ),
    body: bytes,
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}
