// Processes of every role, started at the same moment on an empty database.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { browserless } from '../../helpers/browserless.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { allowSlowStarts, apisOf, atOnce, countBy, rounds, visitor } from './race.ts';

allowSlowStarts();

/** Above level info. That a process stood still does not count: the machine may be slow. */
function isTrouble(line: string): boolean {
  if (!line.startsWith('{')) return true;
  const { level, stalledMs } = JSON.parse(line);
  return level > 30 && stalledMs === undefined;
}

const NO_BOOTSTRAP = { BOOTSTRAP_API_KEY: undefined, BOOTSTRAP_WORKSPACE: undefined };

describe('processes that start at once on an empty database', () => {
  let cluster: Cluster | undefined;
  let receiver: EventReceiver | undefined;
  afterEach(async () => {
    await cluster?.stop();
    await receiver?.close();
    [cluster, receiver] = [undefined, undefined];
  });

  it('make one workspace, one key and one member, and log no error', async () => {
    for (const _ of rounds(2)) {
      cluster = await startCluster(['api', 'api', 'worker', 'all'], {
        env: {
          BOOTSTRAP_ADMIN_EMAIL: 'ana@example.com',
          BOOTSTRAP_ADMIN_PASSWORD: 'correct horse battery',
        },
      });
      const { schema } = cluster;
      for (const table of ['workspaces', 'api_keys', 'members'])
        expect(await cluster.query(`SELECT id FROM "${schema}"."${table}"`)).toHaveLength(1);
      for (const { api } of apisOf(cluster)) expect((await api.get('/api/hooks')).status).toBe(200);
      for (const { logFile } of cluster.processes) {
        const lines = (await readFile(logFile, 'utf8')).trim().split('\n');
        expect(lines.filter(isTrouble)).toEqual([]);
      }
      await cluster.stop();
    }
  });

  it('each print a set-up link; every process accepts every link, and only one set-up succeeds', async () => {
    cluster = await startCluster(['api', 'all', 'api'], { env: NO_BOOTSTRAP });
    const tokens = await Promise.all(
      cluster.processes.map(
        async ({ logFile }) => /setup\?token=([\w-]+)/.exec(await readFile(logFile, 'utf8'))![1]!,
      ),
    );
    expect(new Set(tokens).size).toBe(3);
    for (const { url } of cluster.processes)
      for (const token of tokens)
        expect((await browserless(url).get(`/setup?token=${token}`)).status).toBe(200);
    // Each link at another process than its own, all at once.
    const pages = await atOnce(cluster, 6, ({ url }, n) =>
      browserless(url).post('/setup', {
        token: tokens[(n + 1) % 3]!,
        workspace: `Workspace ${n}`,
        name: `Ana ${n}`,
        email: `ana${n}@example.com`,
        password: 'correct horse battery',
      }),
    );
    expect(countBy(pages, ({ status }) => status)).toEqual({ 201: 1, 404: 5 });
    for (const table of ['workspaces', 'api_keys', 'members'])
      expect(await cluster.query(`SELECT id FROM "${cluster.schema}"."${table}"`)).toHaveLength(1);
  });

  it('upgrade what a former version has filled, once, and go on with it', async () => {
    cluster = await startCluster(['api', 'all', 'worker']);
    const { schema, query } = cluster;
    const customer = await visitor(cluster);
    const send = (n: number) => customer.write(cluster!.processes[0]!, `message ${n}`);
    for (const n of rounds(3)) await send(n);
    await Promise.all(cluster.processes.map((_, index) => cluster!.terminate(index)));
    // As the first version left it.
    const applied = () =>
      query<{ name: string }>(`SELECT name FROM "${schema}".migrations ORDER BY name`).then(
        (rows) => rows.map(({ name }) => name),
      );
    const [first, ...later] = await applied();
    expect(first).toBe('0001_initial');
    const laterTables =
      'generation contact_reveals agent_webhooks agent_test_webhooks webhook_turns typings waits canned_replies presences increments counters';
    for (const table of laterTables.split(' ')) await query(`DROP TABLE "${schema}"."${table}"`);
    for (const index of ['contacts_workspace_id', 'jobs_by_time'])
      await query(`DROP INDEX "${schema}".${index}`);
    await query(`DROP FUNCTION "${schema}".claimed_elsewhere`);
    for (const table of ['messages', 'contacts'])
      await query(`ALTER TABLE "${schema}"."${table}" DROP COLUMN words`);
    for (const field of ['channel', 'funnel_stage'])
      await query(`DROP INDEX "${schema}".conversations_workspace_id_${field}_by_updated_at`);
    for (const column of ['created_at', 'assignee_id', 'waiting_since'])
      await query(`ALTER TABLE "${schema}".conversations DROP COLUMN ${column}`);
    await query(`DELETE FROM "${schema}".migrations WHERE name <> '0001_initial'`);

    await Promise.all(cluster.processes.map((_, index) => cluster!.restart(index)));
    expect(await applied()).toEqual([first, ...later]);
    expect(await query(`SELECT * FROM "${schema}".generation`)).toHaveLength(1);
    await waitFor('the words of former messages', async () => {
      const [row] = await query<{ missing: string }>(
        `SELECT count(*) AS missing FROM "${schema}".messages WHERE words IS NULL`,
      );
      return row?.missing === '0';
    });
    await send(3);
    const { body } = await customer.at(cluster.processes[1]!).get('/api/chat/messages');
    expect(
      (body.data as { text: string }[])
        .map(({ text }) => text)
        .filter((text) => text.startsWith('message ')),
    ).toEqual(['message 0', 'message 1', 'message 2', 'message 3']);
  });

  it('do what their role says: an API process does no work, a worker answers nobody', async () => {
    receiver = await startEventReceiver();
    cluster = await startCluster(['api', 'worker']);
    const [api, worker] = cluster.processes;
    for (const path of [
      '/api/hooks',
      '/api/chat/sessions',
      '/conversations',
      '/sign-in',
      '/pay/x',
      '/api/docs',
      '/',
    ]) {
      const answer = await fetch(worker!.url + path);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect([path, answer.status, error.code]).toEqual([path, 404, 'not_found']);
      expect(error.message).toContain('ROLE=worker');
    }
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await fetch(worker!.url + path)).status).toBe(200);

    await receiver.subscribe({ api: api!.api }, 'message.received');
    await cluster.terminate(1);
    const customer = await visitor(cluster);
    for (const n of rounds(3)) await customer.write(api!, `message ${n}`);
    await sleep(1_500); // a process that works begins at once
    expect(receiver.requests).toHaveLength(0);
    await cluster.restart(1);
    await receiver.payload('message.received', 3);
    expect(
      receiver
        .payloads()
        .map(({ message }) => message.text)
        .sort(),
    ).toEqual(['message 0', 'message 1', 'message 2']);
    expect(receiver.faults).toEqual([]);
  });
});
