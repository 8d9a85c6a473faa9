// Every feature that takes or makes a secret, used over real HTTP; and a search for secrets in
// files.
import { readFile } from 'node:fs/promises';
import { chatCustomer } from './apiClient.ts';
import { browserless, MEMBER } from './browserless.ts';
import type { EventReceiver } from './eventReceiver.ts';
import { eachFile } from './folderFiles.ts';
import type { TestService } from './service.ts';
import { makeLive, type ToolEndpoint } from './toolEndpoint.ts';

export interface Secret {
  /** Which one, in words. */
  readonly what: string;
  readonly value: string;
}

// The secrets that `useEverySecret` gives to a service.
const TOOL_TOKEN = 'sk-live/7Yq+"Zx9&Wv==secret';
const ACCESS_TOKEN = 'EAAGm0PX4ZCpsBAJ8sample9access0token';
const APP_SECRET = '0f3a9c5b7d1e4f60819a2b3c4d5e6f70';
const STRIPE_KEY = 'sk_test_51QsampleKeyThatIsNoKey00aa';
const STRIPE_WEBHOOK_SECRET = 'whsec_0123456789abcdefABCDEF';
const RESUME_SIGNATURE = '5f1d0c77a9e84b6fa2c3d4e5f60718293a4b5c6d';
export const LLM_KEY = 'sk-proj-model-key-that-is-none-42';

const found = (what: string, html: string, pattern: RegExp): Secret => {
  const value = pattern.exec(html)?.[1];
  if (value === undefined) throw new Error(`${what} was not shown`);
  return { what, value };
};

/** Uses them all. @returns every secret that went in or came out */
export async function useEverySecret(
  service: TestService,
  receiver: EventReceiver,
  endpoint: ToolEndpoint,
): Promise<Secret[]> {
  const { api, url } = service;
  const secrets: Secret[] = [
    { what: 'the API key of the environment', value: service.apiKey },
    { what: "a member's password", value: MEMBER.password },
    { what: 'the key of the language model', value: LLM_KEY },
  ];
  const keep = (what: string, value: string) => void secrets.push({ what, value });

  const subscription = await receiver.subscribe(service, 'message.received');
  keep("a subscription's secret", subscription.secret);
  keep(
    "a subscription's next secret",
    (await api.post(`/api/hooks/${subscription.id}/rotate-secret`)).body.secret,
  );

  const webhookTool = await endpoint.define(api, { name: 'find_order' });
  keep("a tool's secret", webhookTool.secret!);
  keep(
    "a tool's next secret",
    (await api.post(`/api/tools/${webhookTool.id}/rotate-secret`)).body.secret,
  );
  keep("a tool's secret for its headers", TOOL_TOKEN);
  const template = {
    method: 'GET',
    url: `${endpoint.url}/check_stock`,
    headers: { authorization: 'Bearer {{secrets.TOKEN}}' },
  };
  const httpTool = await endpoint.defineHttp(api, {
    name: 'check_stock',
    secrets: { TOKEN: TOOL_TOKEN },
    request_template: template,
  });
  // A system that echoes the headers it was sent.
  endpoint.answerAlways(
    '/check_stock',
    (request, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(request.headers)),
  );
  await makeLive(api, httpTool);

  const agent = {
    endpoint: `${endpoint.url}/agent`,
    owner: {
      instance_id: 'n8n-1',
      workflow_id: 'wf-1',
      workflow_name: 'Agent',
      node_id: 'node-1',
      host: 'n8n.example.com',
    },
  };
  for (const path of ['webhook', 'test-webhook'])
    keep(
      `the secret of the agent's ${path}`,
      (await api.put(`/api/agent/${path}`, agent)).body.secret,
    );
  await api.patch('/api/agent', { use_webhook: false });

  keep('what lets an execution go on', RESUME_SIGNATURE);
  const wait = await api.post('/api/waits', {
    kind: 'decision',
    message: 'Go on?',
    resume_url: `${endpoint.url}/webhook-waiting/1?signature=${RESUME_SIGNATURE}`,
  });
  await api.post(`/api/waits/${wait.body.id}/decide`, { approved: true });

  keep('an access token for WhatsApp', ACCESS_TOKEN);
  keep('an app secret of Meta', APP_SECRET);
  const channel = await api.post('/api/channels', {
    type: 'whatsapp_cloud',
    name: 'Shop',
    settings: {
      phone_number_id: '106540352242922',
      access_token: ACCESS_TOKEN,
      app_secret: APP_SECRET,
    },
  });
  keep('a verify token', channel.body.settings.verify_token);
  await api.post(`/api/channels/${channel.body.id}/test`);

  keep('a key of Stripe', STRIPE_KEY);
  keep("a secret of Stripe's webhook", STRIPE_WEBHOOK_SECRET);
  await api.put('/api/payment-accounts/stripe', {
    settings: { secret_key: STRIPE_KEY, webhook_secret: STRIPE_WEBHOOK_SECRET },
  });
  await api.post('/api/payment-accounts/stripe/test');
  await api.put('/api/payment-accounts/manual', { settings: { instructions: 'Transfer to DE00' } });

  const customer = await chatCustomer(url, { name: 'Eva' });
  keep("a visitor's token", customer.token);
  const { conversation_id: conversation } = await customer.write('check stock, please');
  const link = await api.post(
    `/api/conversations/${conversation}/payment-links`,
    { amount: 4900, currency: 'usd', description: 'Demo', provider: 'manual' },
    { 'idempotency-key': 'once' },
  );
  keep("a payment page's token", new URL(link.body.url).pathname.split('/').at(-1)!);
  await fetch(url + new URL(link.body.url).pathname);

  const browser = browserless(url);
  await browser.post('/sign-in', MEMBER);
  keep("a member's session", browser.cookie.replace(/^.*cs_session=/, ''));
  secrets.push(
    found("a form's token", (await browser.get('/team')).html, /name="csrf" value="([^"]+)"/),
  );
  secrets.push(
    found(
      'an invitation',
      (await browser.post('/team/invites', { note: 'Bob', role: 'owner' })).html,
      /join\?token=([\w-]+)/,
    ),
  );
  secrets.push(
    found(
      'an API key of the screens',
      (await browser.post('/keys', { name: 'Shop' })).html,
      /(cs_live_[0-9A-Za-z]{32})/,
    ),
  );
  const form = found(
    'the token of a form that is accepted once',
    (await browser.get(`/conversations/${conversation}/payment-link`)).html,
    /name="form" value="([^"]+)"/,
  );
  secrets.push(form);
  await browser.post(`/conversations/${conversation}/payment-link`, {
    form: form.value,
    amount: '12',
    currency: 'usd',
    description: 'By hand',
    provider: 'manual',
  });
  for (const each of (await api.get('/api/payment-links')).body.data)
    keep("a payment page's token", new URL(each.url).pathname.split('/').at(-1)!);
  return secrets;
}

/**
 * A secret as it might stand in a file: as it is, escaped, or encoded, alone or in the middle of
 * more.
 */
export function spellingsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  // Base64 encodes three bytes at a time: one spelling for each offset that the secret can have,
  // without the characters that depend on the bytes around it.
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : before + 1)
      .replace(/.{0,2}=*$/, ''),
  );
  const url64 = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  const decoded = value.startsWith('whsec_')
    ? [Buffer.from(value.slice(6), 'base64').toString('latin1')]
    : [];
  return [
    ...new Set([
      bytes.toString('latin1'),
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      hex,
      hex.toUpperCase(),
      ...base64,
      ...url64,
      ...decoded,
    ]),
  ];
}

/**
 * Which secrets can be read in which of a folder's files, in words. `except` names files that may
 * hold them.
 */
export async function readableIn(
  folder: string,
  secrets: readonly Secret[],
  except: readonly string[] = [],
): Promise<string[]> {
  const places = await eachFile(folder, async (path, name) => {
    if (except.includes(name)) return [];
    const content = await readFile(path, 'latin1');
    return secrets
      .filter(({ value }) => spellingsOf(value).some((spelling) => content.includes(spelling)))
      .map(({ what }) => `${what} in ${name}`);
  });
  return places.flat();
}
