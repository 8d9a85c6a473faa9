// Without the database nothing is let through uncounted, and nobody is told that they were too
// fast.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../../helpers/apiClient.ts';
import { browserless, MEMBER, MEMBER_ENV } from '../../helpers/browserless.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { startPostgres, type PostgresServer } from '../server.ts';
import { allowSlowStarts, apisOf, atOnce, countBy, type Json } from './race.ts';

allowSlowStarts();

const LIMIT = 40;

describe('two API processes that count requests', () => {
  let server: PostgresServer;
  let cluster: Cluster;
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
    cluster = await startCluster(['api', 'api'], {
      databaseUrl: server.url,
      env: {
        ...MEMBER_ENV,
        API_RATE_LIMIT_PER_MINUTE: String(LIMIT),
        CHAT_RATE_LIMIT_PER_MINUTE: '60',
      },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    await server?.stop();
  });

  it('go on when their connections are cut', async () => {
    for (const [index, { api }] of apisOf(cluster).entries()) {
      expect(await cluster.cutConnections(index)).toBeGreaterThan(0);
      expect((await api.get('/api/hooks/events')).status).toBe(200);
    }
  });

  it('answer 503 while the database is gone, and count again by themselves', async () => {
    await server.pause('fast');
    for (const { api, url } of apisOf(cluster)) {
      const answers: Json[] = [
        await api.get('/api/hooks/events'),
        await apiClient(url, null).post('/api/chat/sessions', {}),
      ];
      for (const { status, headers, body } of answers)
        expect([status, headers.get('retry-after'), body.error.code]).toEqual([
          503,
          '2',
          'unavailable',
        ]);
      expect((await browserless(url).post('/sign-in', MEMBER)).status).toBe(503);
      expect((await browserless(url).get(`/pay/${'x'.repeat(32)}`)).status).toBe(503);
    }
    await server.resume();
    await waitFor(
      'both to answer',
      async () => {
        const ready = await Promise.all(apisOf(cluster).map(({ url }) => fetch(`${url}/readyz`)));
        return ready.every(({ ok }) => ok);
      },
      { timeoutMs: 60_000 },
    );
    await cluster.query(`DELETE FROM "${cluster.schema}".counts`);
    const answers = await atOnce(cluster, 2 * LIMIT, ({ api }) => api.get('/api/hooks/events'));
    expect(countBy(answers, ({ status }) => status)).toEqual({ 200: LIMIT, 429: LIMIT });
  });
});
