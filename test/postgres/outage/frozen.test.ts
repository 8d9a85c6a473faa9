import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  expectRecovery,
  openOutageStage,
  readiness,
  waitUntilReady,
  type OutageStage,
} from './outageStage.ts';

/** A silent server is noticed within this time, even on a loaded machine. */
const KNOWN = { timeoutMs: 45_000 };
const REQUESTS = 60;

/** The processes that a process has started. */
async function childrenOf(pid: number): Promise<number[]> {
  const pids: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid)
      pids.push(Number(entry));
  }
  return pids;
}

describe('PostgreSQL keeps its connections and answers nothing', () => {
  let stage: OutageStage;
  const stopped: number[] = [];
  const stop = (pid: number) => {
    process.kill(pid, 'SIGSTOP');
    stopped.push(pid);
  };
  const freeze = async () => {
    const { pid } = stage.server;
    stop(pid); // first, so that it starts no more
    (await childrenOf(pid)).forEach(stop);
  };
  const thaw = () => {
    for (const pid of stopped.splice(0)) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // it has ended
      }
    }
  };

  beforeAll(async () => {
    stage = await openOutageStage({ roles: ['api', 'worker'] });
  }, 120_000);
  afterEach(thaw);
  afterAll(() => stage?.close());

  it('requests end with 503, then at once; when it goes on everything does, and nothing acknowledged is lost', async () => {
    const { cluster } = stage;
    const [api, worker] = cluster.processes;
    const writers = await stage.startWriters();
    const customer = await chatCustomer(api!.url);
    await freeze();

    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, () => customer.api.get('/api/chat/messages')),
    );
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([503]);
    for (const { url } of [api!, worker!]) {
      const { problems } = await waitFor(
        'the process to say that it is not ready',
        async () => {
          const now = await readiness(url);
          return now.status === 503 && now;
        },
        KNOWN,
      );
      expect(problems).toContain(
        'The store cannot write: the database cannot be reached or written to: it does not answer in time',
      );
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    }
    // Once the silence is known, no request waits for the 5 s after which it is looked for.
    await waitFor('a request that ends at once', async () => {
      const askedAt = performance.now();
      expect((await customer.api.get('/api/chat/messages')).status).toBe(503);
      return performance.now() - askedAt < 4_000;
    });

    thaw();
    await waitUntilReady(cluster);
    await expectRecovery(writers, stage, [202, 503]);
    // Nothing piles up at the server: at most DATABASE_CONNECTIONS and one that listens for each
    // process.
    await waitFor('connections to be as few as before', async () => {
      const [row] = await cluster.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name LIKE $1`,
        [`${cluster.schema}-%`],
      );
      return row!.count <= 2 * (4 + 1);
    });
  }, 240_000);

  it('processes without requests notice the silence too, and its end', async () => {
    await freeze();
    for (const { url } of stage.cluster.processes)
      await waitFor(
        'the process to say that it is not ready',
        async () => (await readiness(url)).status === 503,
        KNOWN,
      );
    thaw();
    await waitUntilReady(stage.cluster);
  }, 180_000);

  it('for a moment only: requests wait, and nobody notices', async () => {
    const writers = await stage.startWriters();
    await freeze();
    await sleep(1_500);
    thaw();
    await expectRecovery(writers, stage, [202]);
  }, 180_000);
});
