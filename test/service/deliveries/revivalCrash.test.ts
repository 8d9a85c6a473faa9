import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

/** The most that can be under way, and so be repeated, when the process is killed. */
const MAX_UNDER_WAY = 32;
const EVENT = 'message.received';

/**
 * The built service as a process that is killed; what it acknowledged is held against what the
 * receiver got.
 */
describe('a service that is killed', () => {
  let tls: TlsFiles;
  let service: ServiceProcess;
  let receiver: EventReceiver;
  let customer: ChatCustomer;
  let status: number;

  beforeEach(async () => {
    status = 200;
    tls = await writeTlsFiles(await sharedTestCa());
    receiver = await startEventReceiver(
      (_request, response) => void (status > 0 && response.writeHead(status).end()),
    );
    service = await startServiceProcess({
      caFile: tls.caFile,
      env: { DELIVERY_RETRY_DELAYS_MS: '60000,60000,60000', LOG_LEVEL: 'warn' },
    });
    customer = await chatCustomer(service.url);
  });
  afterEach(async () => {
    await service?.close();
    await receiver?.close();
    await tls?.remove();
  });

  const subscribe = async () =>
    (
      await service.api.post('/api/hooks', {
        event: EVENT,
        target_url: `${receiver.url}/events`,
        source: 'n8n',
      })
    ).body as { id: string; secret: string };
  /** A hundred at once, which every store takes. */
  const write = async (count: number, what: string) => {
    const texts = Array.from({ length: count }, (_, n) => `${what} ${n}`);
    while (texts.length > 0)
      await Promise.all(texts.splice(0, 100).map((text) => customer.write(text)));
  };
  const ids = (from: number) =>
    receiver
      .payloads()
      .slice(from)
      .map(({ id }) => id as string);
  const pending = async (id: string) =>
    (await service.api.get(`/api/hooks/${id}/deliveries?status=pending&limit=1`)).body.data
      .length as number;

  it('in the middle of a revival, twice, loses nothing and repeats only what was under way', async () => {
    const first = await subscribe();
    status = 404; // n8n has taken the address away already
    await write(40, 'met a 404');
    await waitFor('the failures', () => receiver.requests.length === 40);
    await waitFor('their records', async () => (await pending(first.id)) === 0);
    await service.api.delete(`/api/hooks/${first.id}`);
    status = 200;
    await write(300, 'while removed');
    await service.crashAndRestart();
    const before = receiver.requests.length;
    expect(before).toBe(40);

    const second = await subscribe();
    await waitFor('the first of them', () => receiver.requests.length > before + 20);
    await service.crashAndRestart();
    await waitFor('everything', () => new Set(ids(before)).size === 340, { timeoutMs: 30_000 });
    await waitFor('the end', async () => (await pending(second.id)) === 0);
    expect(ids(before).length).toBeLessThanOrEqual(340 + MAX_UNDER_WAY);
    expect(
      receiver.requests
        .slice(before)
        .filter((request) => signatureFault(request, second.secret) !== null),
    ).toEqual([]);
    expect(
      new Set(
        receiver
          .payloads()
          .slice(before)
          .map(({ message }) => message.text),
      ).size,
    ).toBe(340);
  });

  it('in the middle of a redelivery sends it again under the same round, so that the receiver can tell', async () => {
    const { id } = await subscribe();
    await customer.write('hello');
    await waitFor(
      'its record',
      async () => receiver.requests.length === 1 && (await pending(id)) === 0,
    );
    status = 0; // no answer
    await service.api.post(`/api/hooks/${id}/deliveries/${ids(0)[0]}/redeliver`);
    await waitFor('the redelivery', () => receiver.requests.length === 2);
    await service.crashAndRestart();
    status = 200;
    await waitFor('it to come again', () => receiver.requests.length === 3);
    const [, cutOff, again] = receiver.requests.map(({ headers }) => [
      headers['x-service-delivery'],
      headers['x-service-redelivery'],
      headers['x-service-redelivery-round'],
    ]);
    expect([cutOff, again]).toEqual([
      [ids(0)[0], 'manual', '1'],
      [ids(0)[0], 'manual', '1'],
    ]);
  });

  it('in the middle of a recover sends each event once when it is recovered again', async () => {
    const { id } = await subscribe();
    const since = new Date(Date.now() - 60_000).toISOString();
    status = 400;
    await write(1200, 'failed');
    await waitFor(
      'the failures',
      async () => receiver.requests.length === 1200 && (await pending(id)) === 0,
    );
    status = 200;
    const recover = () => service.api.post(`/api/hooks/${id}/recover`, { since });
    const cutOff = recover().catch(() => null); // its answer may be lost
    await waitFor('the first of them', () => receiver.requests.length > 1200);
    await service.crashAndRestart();
    await cutOff;
    const { body } = await recover();
    expect(body.redelivered).toBeLessThan(1200); // a part was queued before
    await waitFor('everything', () => new Set(ids(1200)).size === 1200, { timeoutMs: 30_000 });
    await waitFor('the end', async () => (await pending(id)) === 0);
    expect(ids(1200).length).toBeLessThanOrEqual(1200 + MAX_UNDER_WAY);
    expect((await recover()).body).toEqual({ redelivered: 0 });
  });
});
