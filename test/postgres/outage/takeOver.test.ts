import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { chatCustomer } from '../../helpers/apiClient.ts';
import type { ClusterProcess } from '../../helpers/cluster.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { openOutageStage, type OutageStage } from './outageStage.ts';

const TIMEOUT_MS = 2_000;
/** Twice the longest attempt, and half a minute. */
const LEASE_MS = 2 * TIMEOUT_MS + 30_000;
/** How late it may be: workers look for claims every few seconds. */
const LATE_MS = 30_000;

const claims = ({ cluster }: OutageStage) =>
  cluster.query<{ claimed_by: string }>(
    `SELECT claimed_by FROM "${cluster.schema}".jobs WHERE queue = 'deliveries' AND claimed_by IS NOT NULL`,
  );

describe('a worker that dies or ends in the middle of an attempt', () => {
  let stage: OutageStage | undefined;
  const held: ServerResponse[] = [];
  let isHolding = true;
  afterEach(async () => {
    for (const response of held.splice(0)) response.destroy();
    isHolding = true;
    await stage?.close();
    stage = undefined;
  });
  /** One of two workers has begun an attempt, while the other one stood still. */
  const begin = async (timeoutMs: number) => {
    stage = await openOutageStage({
      roles: ['api', 'worker', 'worker'],
      env: { DELIVERY_TIMEOUT_MS: String(timeoutMs) },
      answer: (_request, response) => {
        if (isHolding) held.push(response);
        else response.end('ok');
      },
    });
    const { cluster, receiver } = stage;
    const [api, worker, other] = cluster.processes as [
      ClusterProcess,
      ClusterProcess,
      ClusterProcess,
    ];
    const customer = await chatCustomer(api.url);
    process.kill(other.pid, 'SIGSTOP');
    const startedAt = Date.now();
    await customer.write('Are you there?');
    const first = await waitFor('the first attempt', () => receiver.requests[0]);
    isHolding = false;
    return { cluster, receiver, customer, worker, other, first, startedAt };
  };

  it('by kill -9: another one sends it again under the same id once the lease is over, not before; what was not under way goes out long before', async () => {
    const { cluster, receiver, customer, other, first, startedAt } = await begin(TIMEOUT_MS);
    await cluster.kill(1);
    expect(await claims(stage!)).toHaveLength(1);
    process.kill(other.pid, 'SIGCONT');
    await customer.write('Hello?');

    const next = await waitFor('the second message', () => receiver.requests[1]);
    expect(Date.now() - startedAt).toBeLessThan(LEASE_MS);
    expect(JSON.parse(next.rawBody.toString()).message.text).toBe('Hello?');

    const again = await waitFor('the second attempt', () => receiver.requests[2], {
      timeoutMs: LEASE_MS + LATE_MS,
    });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(LEASE_MS);
    expect(again.headers['x-service-delivery']).toBe(first.headers['x-service-delivery']);
    expect(again.rawBody.equals(first.rawBody)).toBe(true);
    await waitFor('nothing to be left', async () => (await claims(stage!)).length === 0);
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.faults).toEqual([]);
  }, 240_000);

  it('by SIGTERM: what it has not begun goes to the others at once, while it still waits for its own', async () => {
    const { cluster, receiver, customer, worker, other } = await begin(20_000);
    process.kill(other.pid, 'SIGCONT');
    const stopping = cluster.terminate(1);
    await waitFor('it to be stopping', () =>
      fetch(`${worker.url}/readyz`).then(
        ({ ok }) => !ok,
        () => true,
      ),
    );
    await customer.write('Hello?');
    await waitFor('the second message', () => receiver.requests.length === 2);
    expect(worker.isRunning).toBe(true);
    held.shift()!.end('ok');
    await stopping;
    expect(worker.isRunning).toBe(false);
    await waitFor('nothing to be left', async () => (await claims(stage!)).length === 0);
    expect(receiver.requests).toHaveLength(2);
  }, 180_000);
});
