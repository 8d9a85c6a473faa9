import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { MAX_SUBSCRIPTIONS } from '../../../../service/src/deliveries/subscription.ts';
import { chatCustomer, type ChatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../../helpers/eventReceiver.ts';
import { removeSubscriptions } from '../../../helpers/removeSubscriptions.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { sharedTestCa } from '../../../helpers/tls.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { deliveriesOf, settledDeliveries } from '../settledDeliveries.ts';

const HOSTILE = '<script>alert(1)</script><b>"\'\u202Egnp.exe';
const SECRET = /whsec_[A-Za-z0-9+/]{43}=/;

describe('the Keys and subscriptions screen: subscribing by hand', () => {
  let service: TestService;
  let browser: Browserless;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    browser = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());

  const subscribe = (values: Record<string, string>) =>
    browser.post('/keys/subscriptions', { 'event_message.received': 'on', ...values });

  it('subscribes, shows the secret once, and never again on any page', async () => {
    const page = await subscribe({ target_url: ' https://127.0.0.1:9/a ', source: HOSTILE });
    expect(page).toMatchObject({ status: 201, path: '/keys/subscriptions' });
    expect(page.headers.get('cache-control')).toBe('no-store');
    const [secret] = SECRET.exec(page.html)!;
    const [made] = (await service.api.get('/api/hooks')).body.data;
    expect(made).toMatchObject({
      event: 'message.received',
      target_url: 'https://127.0.0.1:9/a',
      source: HOSTILE,
    });
    for (const path of [
      '/keys',
      `/keys/subscriptions/${made.id}`,
      `/keys/subscriptions/${made.id}/live/state`,
      '/keys/live/subscriptions',
      '/keys/subscriptions',
    ]) {
      const { html, text } = await browser.get(path);
      expect(html).not.toContain(secret);
      expect(html).not.toContain('<script>alert');
      expect(text).toContain(HOSTILE);
    }
  });

  it('says beside the address why it cannot be used, and keeps what was typed', async () => {
    const refused = 'This URL cannot be used: .*';
    for (const [target, status, problem] of [
      ['', 400, 'Must not be empty\\.$'],
      [`https://127.0.0.1/${'x'.repeat(10_000)}`, 400, 'Must have at most 2048 characters\\.$'],
      ['nonsense', 422, `${refused}absolute https:// URL`],
      ['http://example.com/x', 422, `${refused}must begin with https`],
      ['https://10.0.0.1/x', 422, `${refused}private address.*Settings.*ALLOWED_NETWORKS`],
      ['https://name.invalid/x', 422, `${refused}Check the host name`],
      [`https://127.0.0.1/${HOSTILE}#x`, 422, refused],
    ] as const) {
      const page = await subscribe({ target_url: target, source: 'kept' });
      expect([target.slice(0, 40), page.status]).toEqual([target.slice(0, 40), status]);
      expect(page.problem('target_url')).toMatch(new RegExp(`^${problem}`));
      expect(page.value('target_url') ?? '').toBe(target);
      expect(page.value('source')).toBe('kept');
      expect(page.html).toMatch(/<input [^>]*name="event_message.received" checked/);
      expect(page.html).not.toMatch(/<script>alert|whsec_/);
    }
  });

  it('says what is wrong with an event or a source', async () => {
    const target_url = 'https://127.0.0.1:9/b';
    const withoutEvent = await subscribe({ 'event_message.received': '', target_url });
    expect(withoutEvent.problem('events')).toBe('Choose at least one event.');
    const longSource = await subscribe({ target_url, source: 'x'.repeat(65) });
    expect(longSource.problem('source')).toBe('Must have at most 64 characters.');
  });

  it('takes several events, a filter and catching up', async () => {
    const page = await subscribe({
      'event_conversation.closed': 'on',
      target_url: 'https://127.0.0.1:9/several',
      senders_api: 'on',
      channels_web_chat: 'on',
      conversation_ids: 'conv_1,\r\nconv_2 ',
      catch_up: 'on',
    });
    expect(page.status).toBe(201);
    const [made] = (await service.api.get('/api/hooks')).body.data;
    expect(made).toMatchObject({
      events: ['conversation.closed', 'message.received'],
      filter: {
        senders: ['api'],
        channels: ['web_chat'],
        conversation_ids: ['conv_1', 'conv_2'],
      },
      catch_up: true,
      owner: null,
    });
    await service.api.delete(`/api/hooks/${made.id}?pending=cancel`);
  });

  it('leads to the subscription that is there already', async () => {
    const twin = { 'event_payment.paid': 'on', target_url: 'https://127.0.0.1:9/twin' };
    await subscribe(twin);
    const page = await subscribe({ ...twin, 'event_message.received': '' });
    expect(page.status).toBe(409);
    expect(page.problem('target_url')).toBe(
      'A subscription already sends one of these events to this URL.',
    );
    const [, address] = /href="([^"]*)">Open the existing subscription/.exec(page.html)!;
    expect((await browser.get(address!)).text).toContain('https://127.0.0.1:9/twin');
  });

  it('says how many of 25 there are, by source, and when there is no room', async () => {
    const there = (await service.api.get('/api/hooks')).body.data.length;
    for (let n = there; n < MAX_SUBSCRIPTIONS; n += 1)
      await service.api.post('/api/hooks', {
        event: 'message.sent',
        target_url: `https://127.0.0.1:9/${n}`,
        source: 'n8n',
      });
    const page = await subscribe({ target_url: 'https://127.0.0.1:9/more' });
    expect(page.status).toBe(409);
    expect(page.text).toContain('A workspace has at most 25 subscriptions; this one has 25:');
    expect(page.text).toContain(
      `25 of 25 : ${MAX_SUBSCRIPTIONS - there} from n8n , 1 without a source, 1 from <script>`,
    );
  });
});

describe('the Keys and subscriptions screen: one subscription', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let customer: ChatCustomer;
  let browser: Browserless;
  let answer: { status: number; body: string };
  let hook: { id: string; secret: string };
  let path: string;
  let logged: string;

  beforeAll(async () => {
    service = await startTestService({
      ca: (await sharedTestCa()).ca,
      env: MEMBER_ENV,
      log: pino({ level: 'trace' }, { write: (line) => void (logged += line) }),
    });
    browser = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());
  beforeEach(async () => {
    answer = { status: 200, body: 'ok' };
    receiver = await startEventReceiver(
      (_request, response) => void response.writeHead(answer.status).end(answer.body),
    );
    logged = '';
    customer = await chatCustomer(service.url);
    hook = await receiver.subscribe(service, 'message.received');
    path = `/keys/subscriptions/${hook.id}`;
  });
  afterEach(async () => {
    await removeSubscriptions(service.api);
    await receiver?.close();
  });

  const deliveries = () => deliveriesOf(service, hook.id);
  const settled = () => settledDeliveries(service, hook.id);
  const restart = async (env?: Record<string, string>) => {
    await service.restart(env);
    browser = await signedInBrowser(service.url);
    customer = await chatCustomer(service.url);
  };
  /** Deliveries that a 4xx ends at once. */
  const fail = async (count: number) => {
    answer = { status: 404, body: 'no such webhook' };
    for (let n = 1; n <= count; n += 1) {
      await customer.write(`message ${n}`);
      await settled();
    }
  };

  it('flags one as failing after five failures, with the reason in words, and clears it with the next success', async () => {
    await fail(4);
    expect((await browser.get('/keys')).text).toContain('Active');
    await fail(1);
    for (const page of [
      await browser.get('/keys'),
      await browser.get(path),
      await browser.get('/keys/live/subscriptions'),
      await browser.get(`${path}/live/state`),
    ]) {
      expect(page.text).toContain('Failing');
      expect(page.text).toContain('The last 5 deliveries failed. New events are still sent.');
      expect(page.text).toContain(
        'The receiver answered 404; a 4xx is not retried. The receiver does not know this address. If it is an n8n workflow, publish it again.',
      );
    }
    answer = { status: 200, body: 'ok' };
    await customer.write('well again');
    await settled();
    expect((await browser.get('/keys')).text).not.toMatch(/Failing|deliveries failed/);
  });

  it('opens a delivery to its attempts, with what the receiver answered shown as text', async () => {
    answer = { status: 500, body: `${HOSTILE}${'x'.repeat(10_000)}` };
    await customer.write('hello');
    const [delivery] = await settled();
    const { html, text } = await browser.get(`${path}?open=${delivery!.id}`);
    expect(html).toMatch(new RegExp(`<details id="${delivery!.id}" open`));
    expect(text).toMatch(/Failed now 4 attempts: The receiver answered 500\./);
    expect(text).toMatch(
      /Status 500 attempt 1, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC , took \d+ ms, automatic/,
    );
    expect(text).toContain(`${HOSTILE}xxx`);
    expect(html).not.toContain('<script>alert');
    expect(html.match(/<pre/g)).toHaveLength(4);
  });

  it('sends one delivery again', async () => {
    await fail(1);
    const [delivery] = await deliveries();
    answer = { status: 200, body: 'thanks' };
    const page = await browser.post(`${path}/deliveries/${delivery!.id}/redeliver`, {
      status: 'failed',
    });
    expect(page).toMatchObject({
      status: 200,
      path: `${path}?status=failed&open=${delivery!.id}&notice=resent`,
    });
    expect(page.text).toContain('The delivery is being sent again.');
    await settled();
    const { text } = await browser.get(path);
    expect(text).toMatch(/Delivered now 2 attempts/);
    expect(text).toMatch(/Status 200 attempt 2, .*, manual thanks/);
  });

  it('says that a delivery which is on its way cannot be sent again', async () => {
    await restart({ DELIVERY_RETRY_DELAYS_MS: '60000,60000,60000' });
    answer = { status: 500, body: '' };
    await customer.write('hello');
    await waitFor('its first attempt', async () =>
      (await browser.get(path)).text.includes('1 attempt, next in'),
    );
    const { id } = (await deliveries())[0]!;
    expect((await browser.get(path)).html).not.toContain(`/deliveries/${id}/redeliver`);
    const page = await browser.post(`${path}/deliveries/${id}/redeliver`);
    expect(page.status).toBe(409);
    expect(page.text).toContain('This delivery is still in progress.');
    await restart();
  });

  it('sends again all that failed since a time on the reader’s clock, and says how many', async () => {
    await fail(2);
    answer = { status: 200, body: 'ok' };
    const inMinutes = (minutes: number) =>
      new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 16);
    // Buenos Aires, three hours west: ten minutes from now on its clock is still to come.
    const later = await browser.post(`${path}/recover`, { since: inMinutes(-170), offset: '180' });
    expect(later.text).toContain('There are no failed deliveries since then.');
    const now = await browser.post(`${path}/recover`, { since: inMinutes(-190), offset: '180' });
    expect(now.path).toBe(`${path}?recovered=2&left=0`);
    expect(now.text).toContain('2 failed deliveries are being sent again.');
    expect((await settled()).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect((await browser.post(`${path}/recover`, { since: inMinutes(-10) })).text).toContain(
      'There are no failed deliveries since then.',
    );
  });

  it('says beside the field that the text is not a time, and keeps it', async () => {
    const refused: Record<string, string>[] = [
      { since: '' },
      { since: 'yesterday' },
      { since: '2026-13-40T99:00' },
      { since: '2026-02-31T10:00' },
      { since: HOSTILE },
      { since: '2026-01-01T00:00', offset: '1e9' },
    ];
    for (const values of refused) {
      const page = await browser.post(`${path}/recover`, values);
      expect(page.status).toBe(400);
      expect(page.problem('since')).toBe('Enter a date and a time.');
      expect(page.value('since') ?? '').toBe(values.since);
      expect(page.html).not.toContain('<script>alert');
    }
  });

  it('is edited without a new secret, and says in the form what is wrong', async () => {
    const form = {
      'event_message.sent': 'on',
      'event_message.received': 'on',
      target_url: `${receiver.url}/other`,
      senders_team_member: 'on',
    };
    const refused = await browser.post(`${path}/edit`, { ...form, target_url: 'http://x.example' });
    expect(refused.status).toBe(422);
    expect(refused.problem('target_url')).toMatch(/^This URL cannot be used/);
    expect(refused.html).toMatch(/name="senders_team_member" checked/);
    const page = await browser.post(`${path}/edit`, form);
    expect(page.path).toBe(`${path}?notice=saved`);
    expect(page.text).toContain('message.received and 1 more');
    expect(page.text).toContain('Events message.received, message.sent');
    expect(page.text).toContain('Only Messages of: the team');
    expect(page.value('target_url')).toBe(`${receiver.url}/other`);
    const [shown] = (await service.api.get('/api/hooks')).body.data;
    expect(shown).toMatchObject({
      id: hook.id,
      events: ['message.received', 'message.sent'],
      filter: { senders: ['team_member'] },
      target_url: `${receiver.url}/other`,
      revision: 1,
    });
    // What the page shows is what the form sends back.
    const again = { ...form, target_url: page.value('target_url')! };
    expect((await browser.post(`${path}/edit`, again)).path).toBe(`${path}?notice=saved`);
    expect((await service.api.get('/api/hooks')).body.data).toEqual([shown]);
  });

  it('is paused and resumed', async () => {
    const paused = await browser.post(`${path}/pause`);
    expect(paused.text).toContain('Paused New events are not kept for it.');
    await customer.write('in the pause');
    expect((await browser.get('/keys')).text).toContain('Paused');
    const resumed = await browser.post(`${path}/resume`);
    expect(resumed.text).not.toContain('Paused');
    await customer.write('afterwards');
    await settled();
    expect(receiver.payloads().map(({ message }) => message.text)).toEqual(['afterwards']);
  });

  it('sends a test event', async () => {
    const page = await browser.post(`${path}/test`);
    expect(page.path).toMatch(new RegExp(`^${path}\\?open=dlv_[0-9A-Z]{26}&notice=test-event$`));
    expect(page.text).toContain('Test event sent.');
    await receiver.payload('message.received');
    await settled();
    expect((await browser.get(path)).text).toMatch(/Delivered now 1 attempt/);
    expect(receiver.faults).toEqual([]);
  });

  it('advises to resend after failed events, and not after failed test events alone, which are not sent again', async () => {
    answer = { status: 503, body: '' };
    await browser.post(`${path}/test`);
    await settled();
    const tested = (await browser.get(path)).text;
    expect(tested).toContain('The last delivery failed.');
    expect(tested).toContain('Check that the receiver is running.');
    expect((await browser.get('/keys')).text).toContain('Check that the receiver is running.');
    await customer.write('Hello?');
    await settled();
    expect((await browser.get(path)).text).toContain(
      'Check that the receiver is running, then resend the failed deliveries.',
    );
  });

  it('rotates the secret: shows the new one once, says what to do, and both sign', async () => {
    const page = await browser.post(`${path}/rotate-secret`);
    expect(page).toMatchObject({ status: 201, path: `${path}/rotate-secret` });
    const [secret] = SECRET.exec(page.html)!;
    expect(secret).not.toBe(hook.secret);
    expect(logged).toContain('/rotate-secret');
    expect(logged).not.toContain('whsec_');
    expect(page.text).toMatch(
      /The previous secret stays valid until \d{4}-\d\d-\d\d .* UTC .*publish it again/,
    );
    for (const each of [path, '/keys', `${path}/rotate-secret`, `${path}/live/state`])
      expect((await browser.get(each)).html).not.toMatch(SECRET);
    expect((await browser.get(path)).text).toMatch(/Previous secret valid until/);
    await browser.post(`${path}/test`);
    await settled();
    for (const each of [secret, hook.secret])
      expect(signatureFault(receiver.requests[0]!, each)).toBeNull();
  });

  it('revokes replaced secrets when there are any, and says what to do when too many sign', async () => {
    expect((await browser.get(path)).html).not.toContain('revoke-previous-secrets');
    for (let n = 0; n < 4; n += 1) await browser.post(`${path}/rotate-secret`);
    const page = await browser.get(path);
    expect(page.text).toMatch(/Previous secrets 4 still valid, the last until/);
    expect(page.html).toMatch(
      /action="[^"]*\/revoke-previous-secrets" data-confirm="Sign with the newest secret only/,
    );
    const refused = await browser.post(`${path}/rotate-secret`);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('already has five valid secrets. Revoke the previous ones');

    const revoked = await browser.post(`${path}/revoke-previous-secrets`);
    expect(revoked.path).toBe(`${path}?notice=secrets-revoked`);
    expect(revoked.text).toContain('Previous secrets revoked.');
    expect(revoked.text).not.toContain('Previous secret valid');
    await browser.post(`${path}/test`);
    await settled();
    expect(signatureFault(receiver.requests[0]!, hook.secret)).not.toBeNull();
  });

  it('shows after a revival what was sent before the removal, and can send it again', async () => {
    await fail(1);
    await service.api.delete(`/api/hooks/${hook.id}`);
    answer = { status: 200, body: 'ok' };
    hook = await receiver.subscribe(service, 'message.received');
    path = `/keys/subscriptions/${hook.id}`;
    // A revival sends again what failed just before the removal.
    await waitFor('the second attempt', () => receiver.requests.length === 2);
    await settled();
    const page = await browser.get(path);
    expect(page.text).toContain('Delivered now 2 attempts');
    const [, action] = /action="([^"]*\/redeliver)"/.exec(page.html)!;
    expect(action!.startsWith(path)).toBe(true);
    const again = await browser.post(action!);
    expect(again.path.startsWith(path)).toBe(true);
    expect((await browser.post(`${path}/test`)).path.startsWith(`${path}?open=dlv_`)).toBe(true);
    await waitFor('both', () => receiver.requests.length === 4);
  });

  it('removes it after asking', async () => {
    expect((await browser.get(path)).html).toMatch(
      /action="[^"]*\/remove" data-confirm="Remove the subscription of message\.received/,
    );
    const page = await browser.post(`${path}/remove`);
    expect(page.path).toBe('/keys?notice=unsubscribed');
    expect(page.text).toMatch(/0 of 25.*Subscription removed/);
    expect((await browser.get(path)).status).toBe(404);
    expect((await service.api.get('/api/hooks')).body.data).toEqual([]);
  });

  it('filters deliveries by status and turns pages', async () => {
    answer = { status: 200, body: 'ok' };
    for (let n = 0; n < 30; n += 1) await customer.write(`message ${n}`);
    await settled();
    await fail(1);
    const ids = (html: string) =>
      [...html.matchAll(/<details id="(dlv_[0-9A-Z]{26})"/g)].map(([, id]) => id);
    const first = await browser.get(path);
    expect(ids(first.html)).toHaveLength(25);
    const [, older] = /href="([^"]*cursor=[^"]*)">Older/.exec(first.html)!;
    const second = await browser.get(older!);
    expect(new Set([...ids(first.html), ...ids(second.html)]).size).toBe(31);
    expect(second.html).toContain('>Newest</a>');
    expect(second.html).not.toContain('>Older</a>');
    const failed = await browser.get(`${path}?status=failed`);
    expect(ids(failed.html)).toEqual([ids(first.html)[0]]);
    expect(failed.html).toContain(`hx-get="${path}/live/deliveries?status=failed"`);
    const delivered = await browser.get(`${path}/live/deliveries?status=delivered`);
    expect(ids(delivered.html)).toHaveLength(25);
    expect((await browser.get(`${path}?status=pending`)).text).toContain('No pending deliveries.');
    expect(first.html).toContain(`href="${path}?status=cancelled"`);
    expect((await browser.get(`${path}?status=nonsense&cursor=dlv_zzz`)).status).toBe(400);
  });

  it('leads back to the subscription from the address of a POST that is loaded again', async () => {
    for (const action of [
      'test',
      'rotate-secret',
      'revoke-previous-secrets',
      'remove',
      'deliveries/dlv_00000000000000000000000000/redeliver',
    ])
      expect((await browser.get(`${path}/${action}`)).path).toBe(path);
  });

  it.each([
    ['a delivery was made', () => customer.write('hello')],
    ['a subscription was removed', () => service.api.delete(`/api/hooks/${hook.id}`)],
  ])('tells open pages that %s, and no more', async (_what, act) => {
    const stop = new AbortController();
    const stream = await fetch(`${service.url}/live`, {
      headers: { cookie: browser.cookie },
      signal: stop.signal,
    });
    await act();
    let told = '';
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      told += chunk;
      if (told.includes('event: keys')) break;
    }
    stop.abort();
    expect(told).toContain('event: keys\ndata: *\n\n');
    expect(told).not.toMatch(/hello|sub_|dlv_/);
  });
});
