// How long waits are kept, how many there may be, what /metrics says of them, and that they
// outlast a move of the service.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../service/src/platform/ids.ts';
import { apiClient } from '../../helpers/apiClient.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { startExecutionHost } from '../../helpers/restingExecution.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { sharedTestCa, writeTlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { API_KEY, MovingStage } from '../moving/movingStage.ts';
import {
  askCustomer,
  askNewCustomer,
  askTeam,
  decide,
  goesOn,
  postWait,
  startTalk,
  startWaitStage,
  waitOf,
  type WaitStage,
} from './support.ts';

const DAY_MS = 86_400_000;

describe('waits', () => {
  let stage: WaitStage;

  beforeEach(async () => {
    stage = await startWaitStage({
      env: { AGENT_QUIET_MS: '0', RETENTION_DAYS: '3', CONVERSATION_RETENTION_DAYS: '7' },
      housekeepingEveryMs: 50,
    });
  });
  afterEach(() => stage?.close());

  const statusOf = async (path: string) => (await stage.api.get(path)).status;
  const isGone = (path: string) =>
    waitFor(`${path} to be gone`, async () => (await statusOf(path)) === 404);

  it('that have ended are removed after RETENTION_DAYS, and open ones stay', async () => {
    const [done, open] = [stage.n8n.execution(), stage.n8n.execution()];
    const decided = await askTeam(stage, done);
    const waiting = await askTeam(stage, open);
    await decide(stage, decided);
    await goesOn(done);
    stage.pass(4 * DAY_MS);
    await isGone(`/api/waits/${decided.id}`);
    expect(await statusOf(`/api/waits/${waiting.id}`)).toBe(200);
  });

  it('are kept for RETENTION_DAYS after they end, even if they were open for longer', async () => {
    const [early, late] = [stage.n8n.execution(), stage.n8n.execution()];
    const fields = { expires_at: new Date(stage.now() + 30 * DAY_MS).toISOString() };
    const first = await askTeam(stage, early, fields);
    const second = await askTeam(stage, late, fields);
    stage.pass(5 * DAY_MS);
    await decide(stage, first);
    await goesOn(early);
    stage.pass(DAY_MS);
    await decide(stage, second);
    await goesOn(late);
    stage.pass(2.5 * DAY_MS);
    await isGone(`/api/waits/${first.id}`);
    expect(await waitOf(stage, second)).toMatchObject({ status: 'approved' });
    stage.pass(DAY_MS);
    await isGone(`/api/waits/${second.id}`);
  });

  it('keep their conversation while they are open, and are removed with it', async () => {
    const expiresAt = new Date(stage.now() + 20 * DAY_MS).toISOString();
    const { talk, execution, wait } = await askNewCustomer(stage, { expires_at: expiresAt });
    const other = await startTalk(stage);
    stage.pass(9 * DAY_MS);
    await isGone(`/api/conversations/${other.conversationId}`);
    expect(await statusOf(`/api/conversations/${talk.conversationId}`)).toBe(200);
    await talk.customer.write('A-1042');
    await goesOn(execution);
    stage.pass(9 * DAY_MS);
    await isGone(`/api/conversations/${talk.conversationId}`);
    expect(await statusOf(`/api/waits/${wait.id}`)).toBe(404);
  });

  it('are a thousand at most in a workspace', async () => {
    const first = await askTeam(stage, stage.n8n.execution());
    await stage.service.changeStored((store) =>
      store.transaction(async (tx) => {
        const wait = (await tx.waits.get(first.id))!;
        for (let n = 1; n < 1000; n += 1) await tx.waits.put({ ...wait, id: newId('wait') });
      }),
    );
    const another = () => postWait(stage, stage.n8n.execution());
    const refused = await another();
    expect([refused.status, refused.body.error.code]).toEqual([409, 'wait_limit_reached']);
    await stage.api.post(`/api/waits/${first.id}/cancel`);
    // Of five at the same time, only one finds room.
    const opened = await Promise.all(Array.from({ length: 5 }, another));
    expect(opened.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
  }, 60_000);

  it('are counted: open ones, how they ended, resume attempts, and the time until they were collected', async () => {
    const [retried, gone] = [stage.n8n.execution(), stage.n8n.execution()];
    retried.answer(409);
    gone.answerAlways({ status: 404, message: 'The execution "1" does not exist.' });
    const first = await askTeam(stage, retried);
    const second = await askTeam(stage, gone);
    await askNewCustomer(stage);
    const metric = async (name: string, labels: Record<string, string>) =>
      (await readMetrics(stage.url)).value(`conversation_service_${name}`, labels);
    expect(await metric('waits_open', { kind: 'decision' })).toBe(2);
    expect(await metric('waits_open', { kind: 'reply' })).toBe(1);
    await decide(stage, first);
    await stage.api.post(`/api/waits/${second.id}/cancel`);
    await waitFor('the first attempt', async () => {
      const { resume } = await waitOf(stage, first);
      return resume.attempts.length === 1;
    });
    stage.pass(2000);
    await goesOn(retried);
    await waitFor('the second attempt to be counted', async () =>
      metric('wait_resume_attempts_total', { status_class: '2xx', collected: 'true' }),
    );
    expect(await metric('waits_open', { kind: 'decision' })).toBe(0);
    const ended = (status: string) => metric('waits_ended_total', { kind: 'decision', status });
    expect([await ended('approved'), await ended('cancelled'), await ended('expired')]).toEqual([
      1, 1, 0,
    ]);
    const refused = { status_class: '4xx', collected: 'false' };
    await waitFor(
      'both refused attempts to be counted',
      async () => (await metric('wait_resume_attempts_total', refused)) === 2,
    );
    expect(await metric('wait_collected_seconds_count', {})).toBe(1);
    expect(await metric('wait_collected_seconds_sum', {})).toBeGreaterThan(1.9);
  });
});

describe('executions that wait', () => {
  it.each(['folder', ...(testDatabaseUrl() === null ? [] : ['database'])])(
    'go on after the service was moved to another %s',
    async (to) => {
      const tls = await writeTlsFiles(await sharedTestCa());
      const stage = await MovingStage.open();
      const api = apiClient(stage.url, API_KEY);
      const n8n = await startExecutionHost(() => api);
      try {
        const env = {
          BOOTSTRAP_API_KEY: API_KEY,
          BOOTSTRAP_WORKSPACE: 'Shop',
          NODE_EXTRA_CA_CERTS: tls.caFile,
          AGENT_QUIET_MS: '0',
        };
        const from = stage.folderPlace();
        await stage.start(from, env);
        const talk = await startTalk({ url: stage.url });
        const [reply, decision] = [n8n.execution(), n8n.execution()];
        await askCustomer({ api }, talk, reply);
        const wait = await askTeam({ api }, decision);
        await n8n.goAway();
        await decide({ api }, wait, { approved: true, note: 'Go.' });
        await stage.stop();
        const file = join(stage.folder, 'export.ndjson');
        await stage.command(from, ['export', '--to', file]);
        const encryptionKey = await stage.keyOf(from);
        const place =
          to === 'folder' ? stage.folderPlace(encryptionKey) : stage.databasePlace(encryptionKey);
        expect(await stage.command(place, ['import', '--from', file])).toMatchObject({ code: 0 });
        await n8n.comeBack();
        await stage.start(place, env);
        expect((await goesOn(decision)).decision).toMatchObject({ note: 'Go.' });
        await talk.customer.write('A-1042');
        expect((await goesOn(reply)).answer.text).toBe('A-1042');
      } finally {
        await stage.close();
        await n8n.close();
        await tls.remove();
      }
    },
    120_000,
  );
});
