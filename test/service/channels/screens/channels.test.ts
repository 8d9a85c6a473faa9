import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
  type Page,
} from '../../../helpers/browserless.ts';
import {
  accept,
  graphError,
  startGraphServer,
  TEST_NUMBER,
  type GraphServer,
  type WhatsAppStatus,
} from '../../../helpers/graphServer.ts';
import {
  connectNumber,
  deliver,
  metaText,
  type ConnectedNumber,
  type FromCustomer,
} from '../../../helpers/meta.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { whyUnreachable } from '../../../../service/src/platform/html/accountForm.ts';

const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`;
const APP_SECRET = 'app-secret-0f3a9b7c';
const OTHER_NUMBER = {
  ...TEST_NUMBER,
  id: '106540352242999',
  display_phone_number: '+1 555-078-3999',
};

let service: TestService;
let graph: GraphServer;
let browser: Browserless;

beforeAll(async () => {
  graph = await startGraphServer({ numbers: [TEST_NUMBER, OTHER_NUMBER] });
  service = await startTestService({
    env: { ...MEMBER_ENV, GRAPH_API_URL: graph.url, CHANNEL_RETRY_DELAYS_MS: '50,50,50,50' },
  });
  browser = await signedInBrowser(service.url);
});
afterEach(async () => {
  for (const { id } of await channels()) await service.api.delete(`/api/channels/${id}`);
});
afterAll(async () => {
  await service?.stop();
  await graph?.close();
});

const channels = async () => (await service.api.get('/api/channels?limit=200')).body.data;

/** The form as its page has it, filled in. */
const form = (more: Record<string, string> = {}): Record<string, string> => ({
  type: 'whatsapp_cloud',
  name: 'Shop',
  s_phone_number_id: TEST_NUMBER.id,
  s_access_token: graph.accessToken,
  s_app_secret: APP_SECRET,
  s_verify_token: '',
  ...more,
});
const connect = (more: Record<string, string> = {}) => browser.post('/channels', form(more));
/** Sends the form of a connected account: its secrets stay unless they are filled in. */
const change = (path: string, fields: Record<string, string>) =>
  browser.post(path, {
    s_phone_number_id: TEST_NUMBER.id,
    s_access_token: '',
    s_app_secret: '',
    ...fields,
  });
const connected = async (more: Record<string, string> = {}) => {
  const page = await connect(more);
  expect(page.status).toBe(200);
  expect(page.path).toMatch(/^\/channels\/chan_\w+\?notice=channel-connected$/);
  const path = page.path.split('?')[0]!;
  return { page, path, id: path.split('/').at(-1)! };
};
const expectNoSecrets = (page: Page) => {
  for (const secret of [graph.accessToken, APP_SECRET]) expect(page.html).not.toContain(secret);
};

describe('the channels', () => {
  it('are the web chat alone, with links to its page and its snippet, when nothing is connected', async () => {
    const { text, html } = await browser.get('/channels');
    expect(text).toContain('Web chat on Always available, without an account');
    expect(html).toContain(`${service.url.replace('127.0.0.1', 'localhost')}/chat?workspace=test"`);
    expect(html).toContain('href="/agent#chat-title"');
    expect((await browser.get('/agent')).html).toContain('id="chat-title"');
    expect(text).toContain('Connected accounts No connected accounts yet. Connect WhatsApp');
  });

  it('show each account with its state in words, on the page and in its live part', async () => {
    const { path } = await connected({ name: HOSTILE });
    const list = await browser.get('/channels');
    expect(list.text).toContain(
      `WhatsApp, ${TEST_NUMBER.id} Nothing received from WhatsApp yet. not tested`,
    );
    expect(list.html).not.toContain('<script>alert');
    expect(list.html).not.toContain('<img src=x');
    await browser.post(`${path}/test`);
    expect((await browser.get('/channels/fragment')).text).toContain('working');
  });

  it('warn while nobody outside can reach this service, and no longer once they can', async () => {
    expect((await browser.get('/channels')).text).toContain(
      'cannot reach this service: http://localhost',
    );
    await service.restart({ PUBLIC_URL: 'http://chat.example.com' });
    const plain = await signedInBrowser(service.url);
    expect((await plain.get('/channels')).text).toContain(
      'http://chat.example.com does not begin with https://.',
    );
    await service.restart({ PUBLIC_URL: 'https://chat.example.com' });
    browser = await signedInBrowser(service.url);
    for (const path of ['/channels', '/channels/new?type=whatsapp_cloud'])
      expect((await browser.get(path)).text).not.toContain('cannot reach this service');
    const { page } = await connected();
    expect(page.text).toContain(
      'https://chat.example.com/api/channels/whatsapp_cloud/webhook/chan_',
    );
  });

  it.each([
    ['https://chat.example.com', true],
    ['https://8.8.8.8', true],
    ['http://chat.example.com', false],
    ['https://localhost', false],
    ['https://chat.localhost', false],
    ['https://127.0.0.1:3000', false],
    ['https://192.168.1.20', false],
    ['https://[::1]', false],
    ['https://[fd00::1]', false],
    ['https://n8n-host', false],
  ])('know whether %s is an address that Meta can reach', (url, isReachable) => {
    expect(whyUnreachable(url) === null).toBe(isReachable);
  });
});

describe('an account', () => {
  it('has a form made from the fields of its channel', async () => {
    const { text, html } = await browser.get('/channels/new?type=whatsapp_cloud');
    expect(text).toMatch(
      /Connect WhatsApp .*Name .*Phone number ID .*Access token .*App secret .*Verify token \(optional\)/,
    );
    expect(html).toMatch(/<label for="f-s_access_token">/);
    expect(html).toMatch(/<input id="f-s_access_token"[^>]*type="password"/);
    expect(html).toMatch(
      /<input id="f-s_phone_number_id"[^>]*aria-describedby="h-s_phone_number_id"/,
    );
    expect((await browser.get('/channels/new?type=web_chat')).status).toBe(404);
    expect((await browser.get('/channels/new')).status).toBe(404);
  });

  it('is connected, and its page says what to type where', async () => {
    const { page, id } = await connected();
    const [channel] = await channels();
    expect(page.text).toContain(`Webhook URL ${channel.webhook_url} Copy`);
    expect(page.text).toContain(`Verify token ${channel.settings.verify_token} Copy`);
    expect(page.html).toContain('data-copy="#webhook-address"');
    expect(page.html).toContain('data-copy="#shown-verify_token"');
    expect(page.html).toMatch(/<ol>(<li>[^<]+<\/li>){5,}<\/ol>/);
    expect(channel.id).toBe(id);
    expectNoSecrets(page);
  });

  it('is not connected while something is wrong: said beside the field, secrets not sent back', async () => {
    const page = await connect({ s_phone_number_id: '+1 555', name: 'Harbour' });
    expect(page.status).toBe(400);
    expect(page.problem('s_phone_number_id')).toBe(
      'Must be the digits of the phone number ID, such as 106540352242922.',
    );
    expect(page.value('name')).toBe('Harbour');
    expect(page.value('s_phone_number_id')).toBe('+1 555');
    expect(page.value('s_access_token')).toBeNull();
    expectNoSecrets(page);
    expect((await connect({ s_app_secret: ' ' })).problem('s_app_secret')).toBe('Is missing.');
    expect((await connect({ name: '' })).problem('name')).toBe('Must not be empty.');
    expect((await connect({ type: 'telegram' })).status).toBe(404);
    expect(await channels()).toEqual([]);
  });

  it('is connected once; a second time leads to the first', async () => {
    const { path } = await connected();
    const page = await connect({ name: 'Again' });
    expect(page.status).toBe(409);
    expect(page.text).toContain('This account is already connected. Open it');
    expect(page.html).toContain(`href="${path}"`);
    expectNoSecrets(page);
  });

  it('keeps secrets that are left empty in the form, and takes what is filled in', async () => {
    const { path, page } = await connected();
    const verifyToken = page.value('s_verify_token')!;
    expect(verifyToken).toMatch(/^[\w-]{32}$/);
    const kept = { name: 'Renamed', s_verify_token: verifyToken };
    const saved = await change(path, kept);
    expect(saved.path).toBe(`${path}?notice=saved`);
    expect(saved.text).toContain('Renamed');
    expect((await browser.post(`${path}/test`)).text).toContain('Connection working');
    await change(path, { ...kept, s_access_token: 'another-token' });
    expect((await browser.get(path)).text).toContain('Connection not tested');
    expect((await browser.post(`${path}/test`)).text).toContain('Connection failed');
    expect((await channels())[0].settings.verify_token).toBe(verifyToken);
  });

  it('stays as it is when a change is invalid or its number is already connected; the form keeps what was typed', async () => {
    const { path } = await connected();
    const changed = { name: 'X', s_verify_token: 'v' };
    const page = await change(path, { ...changed, s_phone_number_id: 'abc' });
    expect(page.status).toBe(400);
    expect(page.problem('s_phone_number_id')).toContain('Must be the digits');
    expect(page.value('s_phone_number_id')).toBe('abc');
    expect((await channels())[0]).toMatchObject({
      name: 'Shop',
      settings: { phone_number_id: TEST_NUMBER.id },
    });
    await connected({ s_phone_number_id: OTHER_NUMBER.id });
    const taken = await change(path, { ...changed, s_phone_number_id: OTHER_NUMBER.id });
    expect(taken.status).toBe(409);
    expect(taken.text).toContain('already connected');
  });

  it('says how a test went, in words, and when', async () => {
    const { path, page } = await connected();
    expect(page.text).toContain('Not tested yet with these settings.');
    const ok = await browser.post(`${path}/test`);
    expect(ok.path).toBe(`${path}?notice=channel-tested`);
    expect(ok.text).toContain(
      `Connection working Tested now : WhatsApp knows this number as ${TEST_NUMBER.display_phone_number}`,
    );
    graph.answerNumberWith(
      graphError(401, { code: 190, message: 'Error validating access token: Session has expired' }),
    );
    const failed = await browser.post(`${path}/test`);
    expect(failed.path).toBe(`${path}?notice=channel-test-failed`);
    expect(failed.text).toMatch(/Connection failed Tested now : .*access token/);
    expectNoSecrets(failed);
  });

  it('says when something last came in', async () => {
    const { path, id } = await connected();
    expect((await browser.get(path)).text).toContain('Nothing received from WhatsApp yet.');
    await receive(await numberOf(id), 'Hello');
    expect((await browser.get(path)).text).toContain('Last received from WhatsApp: now .');
    expect((await browser.get(`${path}/fragment`)).text).toContain('Last received from WhatsApp');
  });

  it('is disconnected by a form that asks first, without scripts too', async () => {
    const { path, page } = await connected();
    expect(page.html).toMatch(/<details id="disconnect"><summary[^>]*>Disconnect…<\/summary><form/);
    const list = await browser.post(`${path}/disconnect`);
    expect(list.path).toBe('/channels?notice=channel-disconnected');
    expect(list.text).toContain('Account disconnected.');
    expect(await channels()).toEqual([]);
    expect((await browser.get(path)).status).toBe(404);
    const fragment = await browser.get(`${path}/fragment`);
    expect(fragment.status).toBe(204);
    expect(fragment.headers.get('hx-redirect')).toBe('/channels?notice=channel-disconnected');
  });

  it('warns, before it is disconnected, that other numbers may share its webhook URL', async () => {
    const { path, page } = await connected();
    const warning = 'Your other WhatsApp accounts may share its webhook URL';
    expect(page.text).not.toContain(warning);
    await connected({ name: 'Second', s_phone_number_id: OTHER_NUMBER.id });
    expect((await browser.get(path)).text).toContain(warning);
    expect((await change(path, { name: '' })).text).toContain(warning);
  });

  it('of another workspace is not there', async () => {
    const other = await service.addWorkspace('Other');
    browser = await signedInBrowser(service.url);
    const { id } = await connectNumber(other, { account: '12345' });
    expect((await browser.get(`/channels/${id}`)).status).toBe(404);
    const fragment = await browser.get(`/channels/${id}/fragment`);
    expect([fragment.status, fragment.text]).toEqual([204, '']);
    for (const action of ['', '/test', '/disconnect'])
      expect((await browser.post(`/channels/${id}${action}`, { name: 'Mine' })).status).toBe(404);
    expect((await browser.get('/channels')).text).not.toContain('12345');
    expect((await other.get(`/api/channels/${id}`)).body.name).toBe('Number 12345');
  });
});

const numberOf = async (id: string): Promise<ConnectedNumber> => {
  const { body } = await service.api.get(`/api/channels/${id}`);
  return {
    id,
    account: body.settings.phone_number_id,
    appSecret: APP_SECRET,
    verifyToken: body.settings.verify_token,
    path: new URL(body.webhook_url).pathname,
  };
};

let customers = 0;
/** A customer writes on WhatsApp. @returns where the team reads it */
async function receive(number: ConnectedNumber, text: string, from: FromCustomer = {}) {
  customers += 1;
  const phone = `1650555${1000 + customers}`;
  const { status } = await deliver(
    service.url,
    number,
    metaText(text, { account: number.account, phone, name: `Customer ${customers}`, ...from }),
  );
  expect(status).toBe(200);
  const { body } = await service.api.post('/api/contacts/lookup', { phone: `+${phone}` });
  return { id: body.id as string, path: `/conversations/${body.id}` };
}

const hoursAgo = (hours: number) => String(Math.floor(Date.now() / 1000 - hours * 3600));

describe('a conversation on WhatsApp', () => {
  const connectIt = (account = TEST_NUMBER.id) =>
    connectNumber(service.api, { account, appSecret: APP_SECRET, accessToken: graph.accessToken });
  const report = async (
    number: ConnectedNumber,
    status: WhatsAppStatus,
    text: string,
    errors: Parameters<GraphServer['statusWebhook']>[2] = [],
  ) => {
    const message = graph.taken.find(({ body }) => body.text.body === text)!;
    await deliver(service.url, number, graph.statusWebhook(message, status, errors));
  };
  const reply = (path: string, text: string) => browser.post(`${path}/reply`, { text });
  const shows = (path: string, words: string | RegExp) =>
    waitFor(
      `“${words}” at ${path}`,
      async () => (await browser.get(`${path}/items`)).text.search(words) >= 0,
    );

  it('says of each message how far it has come', async () => {
    const number = await connectIt();
    const { path } = await receive(number, 'Is it open?');
    const asked = new Promise<() => void>((resolve) =>
      graph.answerWith((response, take, request) => resolve(() => accept(response, take, request))),
    );
    await browser.get(path);
    expect((await reply(path, 'Yes, until six')).text).toContain('Waiting to be sent');
    const takeIt = await asked;
    expect((await browser.get(`${path}/items`)).text).toMatch(
      /Yes, until six \d\d:\d\d Waiting to be sent/,
    );
    takeIt();
    await shows(path, /Yes, until six \d\d:\d\d Sent to WhatsApp/);
    for (const [status, words] of [
      ['delivered', 'Delivered'],
      ['read', 'Read'],
      ['delivered', 'Read'],
    ] as const) {
      await report(number, status, 'Yes, until six');
      await shows(path, new RegExp(`Yes, until six \\d\\d:\\d\\d ${words}`));
    }
    const { text } = await browser.get(`${path}/items`);
    expect(text).toMatch(/Is it open\? \d\d:\d\d ana took over/);
  });

  it('says why a message was not delivered', async () => {
    const number = await connectIt();
    const { path } = await receive(number, 'Hello');
    await browser.get(path);
    graph.answerWith(graphError(400, { code: 131026, message: '(#131026) Message undeliverable' }));
    await reply(path, 'Cannot arrive');
    await shows(path, /Cannot arrive \d\d:\d\d Not delivered\. \S+/);
    expect((await browser.get(path)).html).toMatch(
      /<span class="delivery problem" role="note"><b>Not delivered\.<\/b> <bdi>[^<]+<\/bdi>/,
    );
    await reply(path, 'Failed later');
    await shows(path, /Failed later \d\d:\d\d Sent to WhatsApp/);
    await report(number, 'failed', 'Failed later', [
      { code: 131047, title: 'Re-engagement message' },
    ]);
    await shows(path, /Failed later \d\d:\d\d Not delivered\. \S+/);
  });

  it('whose window is closed says so, takes no reply, and keeps what was typed', async () => {
    const number = await connectIt();
    const { id, path } = await receive(number, 'Long ago', { timestamp: hoursAgo(25) });
    const page = await browser.get(path);
    expect(page.text).toMatch(
      /WhatsApp accepts no messages until the customer writes again\. The messaging window closed \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \./,
    );
    expect(page.html).toContain('data-closed');
    const refused = await reply(path, 'Are you still there?');
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(
      'The channel accepts no messages until the customer writes again. Your reply was not sent.',
    );
    expect(refused.html).toMatch(
      /<textarea[^>]*name="text"[^>]*>Are you still there\?<\/textarea>/,
    );
    const { body } = await service.api.get(`/api/conversations/${id}`);
    expect([body.status, body.messages.length]).toEqual(['ai_active', 1]);
    expect(graph.texts()).not.toContain('Are you still there?');
  });

  it('whose window closes soon says until when; one that has long to go says nothing', async () => {
    const number = await connectIt();
    const soon = await receive(number, 'Yesterday', { timestamp: hoursAgo(22.5) });
    expect((await browser.get(`${soon.path}/composer-note`)).text).toMatch(
      /WhatsApp accepts messages to this customer until \d{4}-\S+ \S+ UTC \( in 1 hour \), unless they write again\./,
    );
    const fresh = await receive(number, 'Just now');
    expect((await browser.get(fresh.path)).text).not.toContain(
      'accepts messages to this customer until',
    );
  });

  it('whose account was disconnected says so, takes no reply, and goes on once it is connected again', async () => {
    const number = await connectIt();
    const { path } = await receive(number, 'Hello');
    await service.api.delete(`/api/channels/${number.id}`);
    expect((await browser.get(path)).text).toContain(
      'You can’t send messages: the WhatsApp account that this customer wrote to is no longer connected.',
    );
    const refused = await reply(path, 'Do you hear me?');
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(
      'The account that this customer wrote to is no longer connected. Your reply was not sent.',
    );
    expect(refused.html).toContain('>Do you hear me?</textarea>');
    await connectIt();
    expect((await browser.get(path)).text).not.toContain('You can’t send messages');
    await reply(path, 'Now I do');
    await shows(path, /Now I do \d\d:\d\d Sent to WhatsApp/);
  });

  it('names the account when the workspace has several', async () => {
    const number = await connectIt();
    const { path } = await receive(number, 'Hello');
    expect((await browser.get(path)).text).not.toContain(`Number ${TEST_NUMBER.id}`);
    await connectIt(OTHER_NUMBER.id);
    expect((await browser.get(path)).text).toContain(`WhatsApp, Number ${TEST_NUMBER.id}`);
  });
});
