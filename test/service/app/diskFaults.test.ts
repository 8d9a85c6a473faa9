import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { BreakableFiles, diskError } from '../store/breakableFiles.ts';

describe('when the disk fails under a running service', () => {
  let files: BreakableFiles;
  let service: TestService;
  let receiver: EventReceiver;
  let customer: ChatCustomer;
  /** Each answers a request that the receiver holds. */
  let held: (() => void)[];
  let isHolding: boolean;
  let log: string[];

  beforeEach(async () => {
    files = new BreakableFiles();
    held = [];
    isHolding = false;
    receiver = await startEventReceiver((_request, response) => {
      if (isHolding) held.push(() => void response.end('ok'));
      else response.end('ok');
    });
    log = [];
    service = await startTestService({
      ca: receiver.ca,
      log: pino({}, { write: (line) => void log.push(line) }),
      store: { files, retryMs: 20 },
    });
    await receiver.subscribe(service, 'message.received');
    customer = await chatCustomer(service.url);
  });
  afterEach(async () => {
    files.fail = () => null;
    await service?.stop();
    await receiver?.close();
  });

  const send = (text: string) =>
    customer.api.post('/api/chat/messages', { text, client_message_id: text });
  const fetchReadyz = () => fetch(`${service.url}/readyz`);
  const texts = async () => (await customer.read()).map(({ text }: { text: string }) => text);
  const sent = () => receiver.payloads().map(({ message }) => String(message.text));

  it.each([
    ['an fsync fails', 'sync', 'EIO', /input\/output error/],
    ['the disk is full', 'write', 'ENOSPC', /no space is left on the disk \(ENOSPC\)/],
    ['the file system has become read-only', 'write', 'EROFS', /read-only/],
  ] as const)(
    'because %s: writes get 503 and Retry-After, /readyz says why, and all goes on by itself',
    async (_what, operation, code, words) => {
      expect((await send('before')).status).toBe(202);
      files.fail = (each) => (each === operation ? diskError(code) : null);
      for (const text of ['refused', 'refused too']) {
        const answer = await send(text);
        expect(answer).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      const notReady = await fetchReadyz();
      expect(notReady.status).toBe(503);
      const { problems } = (await notReady.json()) as { problems: string[] };
      expect(problems).toEqual([expect.stringMatching(/^The store cannot write: /)]);
      expect(problems[0]).toMatch(words);
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

      files.fail = () => null;
      await waitFor('/readyz', async () => (await fetchReadyz()).status === 200);
      expect((await send('after')).status).toBe(202);
      expect(await texts()).toEqual(['before', 'after']);
      await waitFor('both events', () => sent().length === 2);
      expect(sent()).toEqual(['before', 'after']);
      expect((await send('refused')).status).toBe(202); // the same client_message_id again
    },
  );

  it('a delivery that arrived and could not be recorded is recorded later, and not sent again, however often the disk comes and goes', async () => {
    isHolding = true;
    const all = Array.from({ length: 4 }, (_, n) => `message ${n}`);
    for (const text of all) expect((await send(text)).status).toBe(202);
    await waitFor('the requests', () => held.length === 4);
    const fill = () => (files.fail = (each) => (each === 'write' ? diskError('ENOSPC') : null));
    fill();
    expect((await send('refused')).status).toBe(503);
    isHolding = false;
    for (const answer of held.splice(0)) answer();
    // The disk works until the store has found that it does, and fails again at the first record,
    // which goes to a new journal.
    files.fail = (each, path) =>
      each === 'write' && /journal-[^1]/.test(path) ? diskError('ENOSPC') : null;
    const recoveries = () =>
      log.filter((line) => line.includes('the store can write again')).length;
    await waitFor('three short recoveries', () => recoveries() >= 3);
    expect(sent().sort()).toEqual(all);
    files.fail = () => null;
    await waitFor('/readyz', async () => (await fetchReadyz()).status === 200);
    const [hook] = (await service.api.get('/api/hooks')).body.data;
    const deliveries = async (): Promise<{ status: string; attempts: unknown[] }[]> =>
      (await service.api.get(`/api/hooks/${hook.id}/deliveries`)).body.data;
    await waitFor(
      'all to be on record',
      async () => (await deliveries()).filter(({ status }) => status === 'delivered').length >= 4,
    );
    expect((await send('after')).status).toBe(202);
    await waitFor('the next event', () => sent().at(-1) === 'after');
    expect(sent().sort()).toEqual(['after', ...all]);
    for (const { attempts } of await deliveries()) expect(attempts).toHaveLength(1);
  });
});
