// The receivers' kit: each example runs as a real process and gets the service's real deliveries.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../helpers/apiClient.ts';
import { freePort } from '../helpers/program.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { waitFor } from '../helpers/waitFor.ts';
import {
  isInstalled,
  kit,
  LANGUAGES,
  prepare,
  runIn,
  startReceiver,
  type Language,
  type ReceiverProgram,
} from './receiverPrograms.ts';

const TEXT = 'Grüße, 你好 🎉 "quoted" \\ </script>';
const now = () => Math.floor(Date.now() / 1000);
/** Written from docs/events-and-signatures.md, without any code of the service. */
const sign = (body: string, secret: string, t: number) =>
  `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
const eventOf = (id: string) =>
  JSON.stringify({
    id,
    event: 'message.received',
    conversation: { id: 'conv_1', status: 'ai_active' },
    message: { text: TEXT },
  });

let service: TestService;
let customer: ChatCustomer;
beforeAll(async () => {
  service = await startTestService({ env: { INSECURE_TARGETS: 'true' } });
  await service.api.patch('/api/agent', { enabled: false });
  customer = await chatCustomer(service.url);
});
afterAll(() => service?.stop());

const newest = async (id: string) =>
  (await service.api.get(`/api/hooks/${id}/deliveries`)).body.data[0];
const ended = (id: string) =>
  waitFor('the delivery to end', async () => {
    const delivery = await newest(id);
    return delivery && delivery.status !== 'pending' ? delivery : null;
  });

const testsOf = (language: Language) => () => {
  let prepared: Awaited<ReturnType<typeof prepare>>;
  let receiver: ReceiverProgram;
  let subscription: { id: string; secret: string };

  beforeAll(async () => {
    prepared = await prepare(language);
    const port = await freePort();
    const { status, body } = await service.api.post('/api/hooks', {
      event: 'message.received',
      target_url: `http://127.0.0.1:${port}/`,
      source: 'test',
    });
    expect(status).toBe(201);
    subscription = body;
    receiver = await startReceiver(language, prepared.folder, port, [subscription.secret]);
  }, 180_000); // the first build of the Go example compiles Go's own library
  afterAll(async () => {
    await service.api.delete(`/api/hooks/${subscription?.id}`);
    await receiver?.close();
    await prepared?.remove();
  });

  const post = async (body: string, headers: Record<string, string>) =>
    (await fetch(receiver.url, { method: 'POST', body, headers })).status;
  const signed = (body: string, { t = now(), secret = subscription.secret } = {}) => ({
    'x-service-signature': sign(body, secret, t),
  });

  /** Sends another event and waits until it is handled; all earlier ones are handled by then. */
  async function handlesAnother(id: string) {
    const body = eventOf(id);
    expect(await post(body, signed(body))).toBe(204);
    await waitFor('it to be handled', () => receiver.handled(id) === 1);
  }

  it('passes every test vector', async () => {
    const { exitCode, output } = await runIn(language, language.check);
    expect({ exitCode, output }).toEqual({
      exitCode: 0,
      output: expect.stringMatching(/(\d+) of \1 vectors are right|^PASS/),
    });
  }, 120_000);

  it('takes a real delivery once, and again when someone asks for it', async () => {
    await customer.write(TEXT);
    const delivery = await ended(subscription.id);
    expect(delivery).toMatchObject({
      status: 'delivered',
      attempts: [{ status_code: 204, error: null }],
    });
    await waitFor('it to be handled', () => receiver.handled(delivery.event_id) === 1);
    await service.api.post(`/api/hooks/${subscription.id}/deliveries/${delivery.id}/redeliver`);
    await waitFor('it to be handled again', () => receiver.handled(delivery.event_id) === 2);
    expect(await ended(subscription.id)).toMatchObject({
      status: 'delivered',
      attempts: [{}, { status_code: 204, trigger: 'manual' }],
    });
  });

  it('handles an event that comes twice once, and says 2xx both times', async () => {
    const body = eventOf('evt_TWICE');
    expect([await post(body, signed(body)), await post(body, signed(body))]).toEqual([204, 204]);
    await handlesAnother('evt_AFTER_TWICE');
    expect(receiver.handled('evt_TWICE')).toBe(1);
  });

  it('answers 401 to an event that is altered, too old, dated in the future, signed with another secret or unsigned, and handles none of them', async () => {
    const body = eventOf('evt_FALSE');
    const refused: [string, string, Record<string, string>][] = [
      ['altered', body.replace('conv_1', 'conv_2'), signed(body)],
      ['a space more', `${body} `, signed(body)],
      ['old', body, signed(body, { t: now() - 302 })],
      ['of the future', body, signed(body, { t: now() + 310 })],
      ['of another secret', body, signed(body, { secret: 'whsec_other' })],
      ['not signed', body, {}],
      ['signed as nonsense', body, { 'x-service-signature': 'v1=caf\u00e9' }],
    ];
    for (const [what, text, headers] of refused)
      expect({ what, status: await post(text, headers) }).toEqual({ what, status: 401 });
    await handlesAnother('evt_AFTER_FALSE');
    expect(receiver.handled('evt_FALSE')).toBe(0);
  });

  it('does not answer 2xx to what it cannot read', async () => {
    expect(await post('not JSON', signed('not JSON'))).toBeGreaterThanOrEqual(400);
    expect((await fetch(receiver.url)).status).toBeGreaterThanOrEqual(400);
  });

  it('accepts deliveries with its old secret while the service signs with both', async () => {
    expect((await service.api.post(`/api/hooks/${subscription.id}/rotate-secret`)).status).toBe(
      200,
    );
    await customer.write('During the rotation');
    const delivery = await ended(subscription.id);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status_code: 204 }] });
    await waitFor('it to be handled', () => receiver.handled(delivery.event_id) === 1);
  });

  it('answers the commands of the README as the README says', async () => {
    const readme = await readFile(join(kit, 'README.md'), 'utf8');
    const script = /```sh\n(BODY=[\s\S]*?)```/
      .exec(readme)![1]!
      .replaceAll('http://127.0.0.1:8091/', receiver.url);
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      env: { PATH: process.env.PATH, SECRET: subscription.secret },
    });
    expect(stdout.match(/^\d{3}$/gm)).toEqual(['204', '401']);
  });
};

describe('the receivers of the kit', () => {
  for (const language of LANGUAGES) {
    if (isInstalled(language)) {
      describe(language.name, testsOf(language));
    } else if (process.env.ALL_RECEIVERS === '1') {
      it(language.name, () => {
        throw new Error(
          `${language.probe[0]} is not there, so its receiver cannot be tested. Install it: apt-get install ${language.debian}.`,
        );
      });
    } else {
      it.skip(`${language.name}: not tested, since ${language.probe[0]} is not installed (apt-get install ${language.debian})`, () => {});
    }
  }
});
