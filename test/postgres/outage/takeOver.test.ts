import { afterEach, describe, expect, it } from '@jest/globals';
import { readdir, readFile, readlink } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { openOutageStage, type OutageStage } from './outageStage.ts';

const TIMEOUT_MS = 2_000;
/** What a lease has beyond the longest attempt. */
const MARGIN_MS = 30_000;
/** Claims are looked for every few seconds. */
const LATE_MS = 30_000;

/** The worker that holds a request's connection, by its claims. */
const claimant = ({ cluster }: OutageStage) =>
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
  const open = () =>
    openOutageStage({
      roles: ['api', 'worker'],
      env: { DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS), AGENT_QUIET_MS: '60000' },
      answer: (_request, response) => {
        if (isHolding) held.push(response);
        else response.end('ok');
      },
    });

  it('by kill -9: another one sends it again under the same id once the lease is over, not before; what was not under way goes out long before', async () => {
    stage = await open();
    const { cluster, receiver } = stage;
    const customer = await chatCustomer(cluster.processes[0]!.url);
    await customer.write('Are you there?');
    const first = await waitFor('the first attempt', () => receiver.requests[0]);
    expect(await claimant(stage)).toHaveLength(1);
    const claimedAt = Date.now();
    await cluster.kill(1);
    isHolding = false;
    await customer.write('Hello?');
    // another process: nothing of the first one's is left but what the database holds
    await cluster.restart(1);

    const other = await waitFor('the second message', () => receiver.requests[1], {
      timeoutMs: 60_000,
    });
    const secondsSinceKill = () => ((Date.now() - claimedAt) / 1000).toFixed(0);
    const goneOn = secondsSinceKill();
    expect(JSON.parse(other.rawBody.toString()).message.text).toBe('Hello?');
    expect(receiver.requests).toHaveLength(2);

    const again = await waitFor('the second attempt', () => receiver.requests[2], {
      timeoutMs: TIMEOUT_MS + MARGIN_MS + LATE_MS,
    });
    process.stdout.write(
      `  after kill -9 the subscription's other deliveries went on in ${goneOn} s, its own in ${secondsSinceKill()} s\n`,
    );
    expect(Date.now() - claimedAt).toBeGreaterThan(TIMEOUT_MS + MARGIN_MS - 2_000);
    expect(again.headers['x-service-delivery']).toBe(first.headers['x-service-delivery']);
    expect(again.rawBody.equals(first.rawBody)).toBe(true);
    await waitFor('nothing to be left', async () => (await claimant(stage!)).length === 0);
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.faults).toEqual([]);
  }, 240_000);

  it('that only stood still comes back, and changes nothing of what the other one has done since', async () => {
    stage = await openOutageStage({
      roles: ['api', 'worker', 'worker'],
      env: { DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS), AGENT_QUIET_MS: '60000' },
      answer: (_request, response) => {
        if (isHolding) held.push(response);
        else response.end('ok');
      },
    });
    const { cluster, receiver } = stage;
    const { api } = cluster.processes[0]!;
    const customer = await chatCustomer(cluster.processes[0]!.url);
    await customer.write('Are you there?');
    await waitFor('the first attempt', () => receiver.requests.length === 1);
    const busy = await busyWorker(stage, [1, 2]);
    const { pid } = cluster.processes[busy]!;
    process.kill(pid, 'SIGSTOP');
    try {
      isHolding = false;
      await waitFor('the other one to send it', () => receiver.requests.length === 2, {
        timeoutMs: TIMEOUT_MS + MARGIN_MS + LATE_MS,
      });
      const [hook] = (await api.get('/api/hooks')).body.data;
      const deliveries = async () => (await api.get(`/api/hooks/${hook.id}/deliveries`)).body.data;
      await waitFor(
        'the success to be on record',
        async () => (await deliveries())[0].status === 'delivered',
      );
      process.kill(pid, 'SIGCONT');
      const delivery = await waitFor('the late attempt to be on record', async () => {
        const [each] = await deliveries();
        return each.attempts.length === 2 && each;
      });
      expect(delivery).toMatchObject({
        status: 'delivered',
        next_attempt_at: null,
        attempts: [{ status_code: 200 }, { status_code: null, error: expect.any(String) }],
      });
      expect(hook.id).toBe((await api.get('/api/hooks')).body.data[0].id);
      expect((await api.get('/api/hooks')).body.data[0]).toMatchObject({
        status: 'active',
        consecutive_failures: 0,
      });
      await waitFor('nothing to be left', async () => (await claimant(stage!)).length === 0);
      expect(receiver.requests).toHaveLength(2);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }, 240_000);

  it('by SIGTERM: what it has not begun goes to the others at once, while it still waits for its own', async () => {
    stage = await openOutageStage({
      roles: ['api', 'worker', 'worker'],
      env: { DELIVERY_TIMEOUT_MS: '20000', AGENT_QUIET_MS: '60000' },
      answer: (_request, response) => {
        if (isHolding) held.push(response);
        else response.end('ok');
      },
    });
    const { cluster, receiver } = stage;
    const customer = await chatCustomer(cluster.processes[0]!.url);
    await customer.write('Are you there?');
    await waitFor('the first attempt', () => receiver.requests.length === 1);
    isHolding = false;
    const workers = [1, 2];
    const busy = await busyWorker(stage, workers);
    const stopping = cluster.terminate(busy);
    await waitFor(
      'it to be stopping',
      async () =>
        (await fetch(`${cluster.processes[busy]!.url}/readyz`).then(
          ({ status }) => status,
          () => 0,
        )) !== 200,
    );
    await customer.write('Hello?');
    await waitFor('the second message', () => receiver.requests[1], { timeoutMs: 10_000 });
    expect(cluster.processes[busy]!.isRunning).toBe(true);
    held.shift()!.end('ok');
    await stopping;
    expect(cluster.processes[busy]!.isRunning).toBe(false);
    await waitFor('nothing to be left', async () => (await claimant(stage!)).length === 0);
    expect(receiver.requests).toHaveLength(2);
  }, 180_000);
});

/** Of these processes the one that has a connection to the receiver. */
const busyWorker = (
  { cluster, receiver }: OutageStage,
  indexes: readonly number[],
): Promise<number> =>
  waitFor('the worker to be found', async () => {
    const port = receiver.port.toString(16).toUpperCase().padStart(4, '0');
    const connections = (await readFile('/proc/net/tcp', 'utf8'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
    const inodes = new Set(
      connections
        .filter(([, , remote]) => remote?.endsWith(`:${port}`))
        .map((fields) => `socket:[${fields[9]}]`),
    );
    for (const index of indexes) {
      const folder = `/proc/${cluster.processes[index]!.pid}/fd`;
      const links = await Promise.all(
        (await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')),
      );
      if (links.some((link) => inodes.has(link))) return { index };
    }
    return null;
  }).then(({ index }) => index);
