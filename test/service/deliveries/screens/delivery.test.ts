import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../../helpers/apiClient.ts';
import {
  decoded,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../../helpers/browserless.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../../helpers/eventReceiver.ts';
import { removeSubscriptions } from '../../../helpers/removeSubscriptions.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { sharedTestCa } from '../../../helpers/tls.ts';
import { settledDeliveries } from '../settledDeliveries.ts';

const HOSTILE = `<script>alert(1)</script> it's "quoted" $HOME \`date\` \\ ünïcode 'x'`;

describe('the page of a delivery', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let customer: ChatCustomer;
  let browser: Browserless;
  let status: number;
  let hook: { id: string; secret: string };

  beforeAll(async () => {
    service = await startTestService({ ca: (await sharedTestCa()).ca, env: MEMBER_ENV });
    browser = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());
  beforeEach(async () => {
    status = 200;
    receiver = await startEventReceiver(
      (_request, response) => void response.writeHead(status).end('an answer'),
    );
    customer = await chatCustomer(service.url);
    hook = await receiver.subscribe(service, 'message.received');
  });
  afterEach(async () => {
    await removeSubscriptions(service.api);
    await receiver?.close();
  });

  const settled = (id = hook.id) => settledDeliveries(service, id);
  const arrive = async (text: string) => {
    await customer.write(text);
    const { id, event_id: eventId } = (await settled())[0]!;
    return { eventId, path: `/keys/subscriptions/${hook.id}/deliveries/${id}`, id };
  };

  it('shows its times in the reader’s time zone', async () => {
    const delivery = await arrive('Hello');
    await browser.get('/account');
    const liveIn = (timeZone: string) =>
      browser.post('/account/profile', { name: 'Ana', timeZone });
    await liveIn('Asia/Tokyo');
    const { html } = await browser.get(delivery.path);
    await liveIn('UTC');
    const { body } = await service.api.get(`/api/hooks/${hook.id}/deliveries`);
    const at = new Date(Date.parse(body.data[0].created_at) + 9 * 3_600_000).toISOString();
    expect(html).toContain(`${at.slice(0, 19).replace('T', ' ')} (Asia/Tokyo)`);
    expect(html).not.toMatch(/\d\d:\d\d:\d\d UTC/);
  });

  it('shows the payload, the headers of each attempt exactly as they arrived, and the conversation', async () => {
    status = 404;
    const delivery = await arrive(HOSTILE);
    status = 200;
    await browser.post(`${delivery.path}/redeliver`);
    await settled();
    const { html, text } = await browser.get(delivery.path);
    expect(html).not.toContain('<script>alert');
    expect(text).toContain(JSON.stringify(HOSTILE));
    expect(text).toContain('an answer');
    expect(html).toMatch(/<a href="\/conversations\/conv_[0-9A-Z]{26}">conv_/);
    const shown = [...html.matchAll(/aria-label="Request headers of attempt \d">([^<]+)</g)].map(
      ([, lines]) => Object.fromEntries(lines!.split('\n').map((line) => line.split(': '))),
    );
    expect(shown).toHaveLength(2);
    for (const [n, headers] of shown.entries())
      expect(receiver.requests[n]!.headers).toMatchObject(headers);
    expect(Object.keys(shown[1])).toEqual([
      'content-type',
      'user-agent',
      'x-service-event',
      'x-service-delivery',
      'x-service-signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'x-service-redelivery',
      'x-service-redelivery-round',
    ]);
    expect(html).not.toContain(hook.secret);
    expect(html).not.toContain('whsec_');
    expect((await browser.get(`${delivery.path}/live`)).text).toContain('Status 404 attempt 1');
  });

  it('sends the delivery again and is shown afterwards', async () => {
    const delivery = await arrive('hello');
    const page = await browser.post(`${delivery.path}/redeliver`, { from: 'delivery' });
    expect(page.path).toBe(`${delivery.path}?notice=resent`);
    await settled();
    expect((await browser.get(delivery.path)).text).toContain('attempt 2');
  });

  it('gives a curl command that a receiver accepts, and only in the answer to the form', async () => {
    await service.api.delete(`/api/hooks/${hook.id}`);
    hook = await receiver.subscribe(service, 'message.received', '/hook?tag[]={a,b}');
    const delivery = await arrive(HOSTILE);
    const page = await browser.post(`${delivery.path}/curl`);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.text).toContain('Receivers accept the signature for 5 minutes');
    const [, escaped] = /<pre id="once"[^>]*>([^<]+)</.exec(page.html)!;
    const command = decoded(escaped!);
    expect(command).not.toContain(hook.secret);
    const ca = path.join(service.folder, 'ca.pem');
    await writeFile(ca, receiver.ca);
    const trusting = command.replace('curl -i', `curl -s -i --cacert ${ca}`);
    const { stdout } = await promisify(execFile)('sh', ['-c', trusting]);
    expect(stdout).toContain('200');
    const [first, second] = receiver.requests;
    expect(second!.path).toBe(first!.path);
    expect(second!.rawBody).toEqual(first!.rawBody);
    expect(signatureFault(second!, hook.secret)).toBeNull();
    expect((await browser.get(`${delivery.path}/curl`)).path).toBe(delivery.path);
    for (const address of [delivery.path, `${delivery.path}/live`])
      expect((await browser.get(address)).html).not.toContain('curl -i');
    expect((await service.stored()).includes('curl -i')).toBe(false);
  });

  it('is found by its id and by that of its event, in all subscriptions', async () => {
    const delivery = await arrive('hello');
    const find = (id: string) => browser.get(`/keys/deliveries?id=${encodeURIComponent(id)}`);
    for (const id of [delivery.id, delivery.eventId, ` ${delivery.eventId} `])
      expect((await find(id)).path).toBe(delivery.path);
    for (const id of ['', 'nonsense', HOSTILE, 'dlv_00000000000000000000000000']) {
      const page = await find(id);
      expect(page.status).toBe(404);
      expect(page.text).toContain('Neither a delivery nor an event with deliveries has the id');
      expect(page.html).not.toContain('<script>alert');
    }
    const other = await receiver.subscribe(service, 'message.received', '/other');
    await customer.write('again');
    const { event_id: sharedEventId } = (await settled(other.id))[0]!;
    await settled();
    const page = await find(sharedEventId);
    expect(page.text).toContain('2 deliveries of this event');
    const ofHook = `/api/hooks/${hook.id}/deliveries?event_id=`;
    expect((await service.api.get(`${ofHook}${delivery.eventId}`)).body.data).toEqual([
      expect.objectContaining({ id: delivery.id }),
    ]);
    expect((await service.api.get(`${ofHook}evt_none`)).body.data).toEqual([]);
    await service.api.delete(`/api/hooks/${other.id}`);
    expect((await find(sharedEventId)).path).toMatch(`/keys/subscriptions/${hook.id}/`);
  });

  it('answers 404 for a delivery of another workspace', async () => {
    const delivery = await arrive('hello');
    const stranger = await service.addWorkspace('Another');
    browser = await signedInBrowser(service.url);
    const { body } = await stranger.post('/api/hooks', {
      event: 'message.received',
      target_url: `${receiver.url}/theirs`,
    });
    const test = (await stranger.post(`/api/hooks/${body.id}/test`)).body;
    const theirs = `/keys/subscriptions/${body.id}/deliveries/${test.id}`;
    const mixed = `/keys/subscriptions/${hook.id}/deliveries/${test.id}`;
    for (const each of [theirs, mixed]) {
      expect((await browser.get(each)).status).toBe(404);
      expect((await browser.post(`${each}/curl`)).status).toBe(404);
    }
    for (const id of [test.id, test.event_id])
      expect((await browser.get(`/keys/deliveries?id=${id}`)).status).toBe(404);
    expect((await browser.get(delivery.path)).status).toBe(200);
  });
});
