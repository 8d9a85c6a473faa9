// Rate limits and lock-outs count over all processes. While the database is gone, requests get 503:
// they are neither let through uncounted nor refused as too many.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../../helpers/apiClient.ts';
import { browserless, MEMBER, MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { startPostgres, type PostgresServer } from '../server.ts';
import {
  allowSlowStarts,
  apisOf,
  atOnce,
  countBy,
  outcomesOf,
  visitor,
  type Json,
} from './race.ts';

allowSlowStarts();

const MAX_API_REQUESTS = 40;
const MAX_CHAT_MESSAGES = 12;
/** New chats that one address may open at once. With ADDRESS_BUDGET 1 they are 60. */
const NEW_CHATS = 30;

describe('two API processes', () => {
  let server: PostgresServer;
  let cluster: Cluster;
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
    cluster = await startCluster(['api', 'api'], {
      databaseUrl: server.url,
      env: {
        ...MEMBER_ENV,
        API_RATE_LIMIT_PER_MINUTE: String(MAX_API_REQUESTS),
        CHAT_RATE_LIMIT_PER_MINUTE: String(MAX_CHAT_MESSAGES),
        ADDRESS_BUDGET: String(NEW_CHATS / 60),
      },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    await server?.stop();
  });

  const [first, second] = [() => apisOf(cluster)[0]!, () => apisOf(cluster)[1]!];
  const signIn = (url: string, email: string, password = 'wrong') =>
    browserless(url).post('/sign-in', { email, password });
  /** Deletes all counts. What a process already refuses from memory, it still refuses. */
  const forget = () => cluster.query(`DELETE FROM "${cluster.schema}".counts`);

  it('go on when their connections are cut', async () => {
    for (const [index, { api }] of apisOf(cluster).entries()) {
      expect(await cluster.cutConnections(index)).toBeGreaterThan(0);
      expect((await api.get('/api/hooks/events')).status).toBe(200);
    }
  });

  it('answer 503 while the database is gone', async () => {
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
    await waitFor('both to answer', async () => {
      const ready = await Promise.all(apisOf(cluster).map(({ url }) => fetch(`${url}/readyz`)));
      return ready.every(({ ok }) => ok);
    });
  });

  it('together answer exactly as many requests of a key in a minute as the limit allows, even after an outage, and then both refuse', async () => {
    await forget();
    const begun = performance.now();
    const answers = await atOnce(cluster, 2 * MAX_API_REQUESTS, ({ api }) =>
      api.get('/api/hooks/events'),
    );
    expect(outcomesOf(answers)).toEqual({
      200: MAX_API_REQUESTS,
      rate_limited: MAX_API_REQUESTS,
    });
    for (const { api } of [first(), second()]) {
      const { status, headers } = await api.get('/api/hooks/events');
      const elapsed = (performance.now() - begun) / 1000;
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(60 - elapsed - 1);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
  });

  it("count one visitor's messages together, and each visitor separately", async () => {
    const customers = await Promise.all([visitor(cluster), visitor(cluster)]);
    for (const customer of customers) {
      const answers = await atOnce(cluster, 2 * MAX_CHAT_MESSAGES, (process, n) =>
        customer.write(process, `${n}`),
      );
      expect(countBy(answers, ({ status }) => status)).toEqual({
        202: MAX_CHAT_MESSAGES,
        429: MAX_CHAT_MESSAGES,
      });
    }
  });

  it('count new chats from an address together', async () => {
    await forget();
    const answers = await atOnce(cluster, 2 * NEW_CHATS, ({ url }) =>
      apiClient(url, null).post('/api/chat/sessions', {}),
    );
    expect(countBy(answers, ({ status }) => status)).toEqual({ 201: NEW_CHATS, 429: NEW_CHATS });
  });

  it('lock out after ten wrong passwords in all, even when they all come at once', async () => {
    const tries = await atOnce(cluster, 20, ({ url }, n) =>
      signIn(url, 'somebody@example.com', `wrong ${n}`),
    );
    expect(countBy(tries, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
    for (const { url } of [first(), second()])
      expect((await signIn(url, 'somebody@example.com')).status).toBe(429);
  });

  it('both forget the wrong passwords of a member who signs in at one of them', async () => {
    await forget();
    for (const process of [first(), second(), first()]) {
      for (const { url } of [first(), second(), first(), second()])
        expect((await signIn(url, MEMBER.email)).status).toBe(401);
      expect((await browserless(process.url).post('/sign-in', MEMBER)).path).toBe('/overview');
    }
  });

  it('allow five wrong guesses of the current password in all', async () => {
    await forget();
    const browsers = [await signedInBrowser(first().url), await signedInBrowser(second().url)];
    for (const browser of browsers) await browser.get('/account');
    const problems = [];
    for (let n = 0; n < 8; n++)
      problems.push(
        (
          await browsers[n % 2]!.post('/account/password', {
            current: `wrong ${n}`,
            next: 'a new long password',
          })
        ).problem('current'),
      );
    expect(countBy(problems, (problem) => problem!)).toEqual({
      'The current password is wrong.': 5,
      'Too many wrong passwords. Wait for 15 minutes and try again.': 3,
    });
  });

  it('accept any e-mail at sign-in, and store neither it nor the IP address in plain text', async () => {
    await forget();
    for (const email of ['a'.repeat(254), '\u0000@example.com', "'; DROP TABLE counts; --"])
      expect((await signIn(first().url, email)).status).toBe(401);
    const rows = await cluster.query(`SELECT * FROM "${cluster.schema}".counts`);
    expect(rows.length).toBeGreaterThan(3); // by each e-mail, and by the address
    expect(JSON.stringify(rows)).not.toMatch(/127\.0\.0\.1|aaaa|example\.com|DROP TABLE/);
  });
});
