import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { readChatStream } from '../../helpers/chatStreamReader.ts';
import type { ClusterProcess } from '../../helpers/cluster.ts';
import { tailOf } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  expectRecovery,
  openOutageStage,
  readiness,
  waitUntilReady,
  type OutageStage,
} from './outageStage.ts';

describe('PostgreSQL is stopped while requests run, and started again', () => {
  let stage: OutageStage;
  let api: ClusterProcess;
  beforeAll(async () => {
    stage = await openOutageStage({ roles: ['api', 'worker'], env: MEMBER_ENV });
    [api] = stage.cluster.processes as [ClusterProcess];
  }, 120_000);
  afterAll(() => stage?.close());

  it.each(['fast', 'immediate'] as const)(
    '%s: 503 with an explanation during the outage; then everything recovers by itself, and nothing acknowledged is lost',
    async (how) => {
      const { server, cluster } = stage;
      const reader = await chatCustomer(api.url);
      const stream = await readChatStream(api.url, reader.token);
      const writers = await stage.startWriters();

      await server.pause(how);
      const refused = await waitFor('a refusal', () =>
        writers.answers.find(({ status }) => status === 503),
      );
      expect(refused).toMatchObject({
        answer: {
          body: {
            error: {
              code: 'unavailable',
              message: expect.stringMatching(/cannot write now.*Try again/),
            },
          },
        },
      });
      expect((refused as { answer: { headers: Headers } }).answer.headers.get('retry-after')).toBe(
        '2',
      );
      for (const { url } of cluster.processes) {
        const named =
          /^The store cannot write: the database cannot be reached or written to: connect ECONNREFUSED 127\.0\.0\.1:\d+$/;
        await waitFor('the process to say why it is not ready', async () => {
          const { status, problems } = await readiness(url);
          return status === 503 && named.test(problems);
        });
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
      }
      expect((await api.api.get('/api/conversations')).status).toBe(503);

      await server.resume();
      await waitUntilReady(cluster);
      await expectRecovery(writers, stage, [202, 503]); // no 500, and no answer that breaks off

      // The stream was idle throughout: it is still the same one.
      const { message_id: id } = await reader.write('Are you back?');
      await waitFor('the message on the stream', () => stream.seen.some((each) => each.id === id));
      stream.close();
    },
    180_000,
  );

  it('a screen of the team that is open throughout goes on, although its session cannot be looked up at a heartbeat', async () => {
    const { cookie } = await signedInBrowser(api.url);
    const leaving = new AbortController();
    const live = await fetch(`${api.url}/live`, { headers: { cookie }, signal: leaving.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of live.body!.pipeThrough(new TextDecoderStream())) text += chunk;
      return 'ended';
    })().catch(() => 'broken off');
    await stage.server.pause('immediate');
    const pausedAt = text.length;
    await waitFor('a beat', () => text.slice(pausedAt).includes(': beat'), { timeoutMs: 40_000 });
    await stage.server.resume();
    await waitUntilReady(stage.cluster);
    await waitFor('the screen to be told to load again', () =>
      text.slice(pausedAt).includes('event: conversations'),
    );
    leaving.abort();
    expect(await reading).toBe('broken off'); // by us
  }, 180_000);

  it('each process says in its log that nothing can be written, without the password, and blames no worker', async () => {
    for (const { logFile } of stage.cluster.processes) {
      const log = await tailOf(logFile, 10_000);
      expect(log).toContain('nothing can be written until this works again');
      expect(log).not.toContain(new URL(stage.server.url).password);
      expect(log).not.toContain('jobs could not be claimed');
    }
  });
});
