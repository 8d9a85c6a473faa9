// A slow receiver is not overrun by several workers, also while its work goes from one of them to
// the next.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { allowSlowStarts, apisOf, rounds, visitor } from './race.ts';

allowSlowStarts();

/**
 * At which a limit neither rises nor falls: 0.1 to 0.3 of the deadline, which no standstill of a
 * busy machine reaches.
 */
const [DEADLINE_MS, ANSWER_MS] = [10_000, 1_500];
const INITIAL_IN_FLIGHT = 4;
/** Written before each restart, so that there is work left however long a restart takes. */
const EVENTS_PER_RESTART = 30;
const RESTARTED = [1, 2, 3];
const EVENTS = EVENTS_PER_RESTART * RESTARTED.length;
const PATIENT = { timeoutMs: 120_000, everyMs: 50 };

describe('three workers and a receiver that is slow', () => {
  let tls: TlsFiles;
  let receiver: EventReceiver;
  let cluster: Cluster;
  let [now, most] = [0, 0];
  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    receiver = await startEventReceiver((_request, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        response.end('ok');
      }, ANSWER_MS);
    });
    cluster = await startCluster(['api', 'worker', 'worker', 'worker'], {
      caFile: tls.caFile,
      env: { DELIVERY_TIMEOUT_MS: String(DEADLINE_MS) },
    });
    await apisOf(cluster)[0]!.api.patch('/api/agent', { enabled: false });
  });
  afterAll(async () => {
    await cluster?.stop();
    await receiver?.close();
    await tls?.remove();
  });

  it('has as many under way as one process would allow, and gets each event once', async () => {
    const [api] = apisOf(cluster);
    await receiver.subscribe({ api: api!.api }, 'message.received');
    const customers = await Promise.all(rounds(10).map(() => visitor(cluster)));
    const write = (index: number) =>
      Promise.all(
        customers.map(async (customer, c) => {
          for (const n of rounds(EVENTS_PER_RESTART / customers.length)) {
            const text = `${index} ${c} ${n}`;
            await customer.at(api!).post('/api/chat/messages', { text, client_message_id: text });
          }
        }),
      );
    // One after the other stops in the middle of it; what it has begun comes to its end while
    // another one goes on.
    for (const index of RESTARTED) {
      await write(index);
      const before = receiver.requests.length;
      await waitFor('more of it', () => receiver.requests.length >= before + 12, PATIENT);
      await cluster.restart(index);
    }
    await waitFor('every event', () => receiver.requests.length >= EVENTS, PATIENT);
    await waitFor(
      'all to be recorded',
      async () =>
        (
          await cluster.query(
            `SELECT 1 FROM "${cluster.schema}".jobs WHERE queue = 'deliveries' LIMIT 1`,
          )
        ).length === 0,
      PATIENT,
    );
    expect(receiver.requests).toHaveLength(EVENTS);
    expect(
      new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery'])).size,
    ).toBe(EVENTS);
    expect(most).toBe(INITIAL_IN_FLIGHT);
  });
});
