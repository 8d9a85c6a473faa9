// Who is let in at one process is let in at the other, and who is shut out at one is shut out at
// the other at once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../../helpers/apiClient.ts';
import {
  browserless,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../helpers/browserless.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { allowSlowStarts, apisOf } from './race.ts';

allowSlowStarts();

describe('two API processes', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(['api', 'api'], { env: MEMBER_ENV });
  });
  afterAll(() => cluster?.stop());

  const [first, second] = [() => apisOf(cluster)[0]!, () => apisOf(cluster)[1]!];
  /** What a signed-in browser gets of a process, with the cookie of another one's. */
  const openAt = (url: string, { cookie }: Browserless) =>
    fetch(`${url}/account`, { headers: { cookie }, redirect: 'manual' }).then(
      ({ status }) => status,
    );

  it('take a form at one that was shown by the other', async () => {
    const browser = await signedInBrowser(first().url);
    const page = await browser.get('/keys');
    const answer = await fetch(`${second().url}/keys`, {
      method: 'POST',
      headers: { cookie: browser.cookie },
      body: new URLSearchParams({ csrf: page.value('csrf')!, name: 'From the other' }),
    });
    expect([answer.status, await answer.text()]).toEqual([
      201,
      expect.stringContaining('cs_live_'),
    ]);
  });

  it('know a session that was begun at the other, and end it at both when it is ended at one', async () => {
    const one = await signedInBrowser(first().url);
    const elsewhere = await signedInBrowser(second().url);
    expect([await openAt(second().url, one), await openAt(first().url, elsewhere)]).toEqual([
      200, 200,
    ]);
    await one.post('/sign-out');
    expect([await openAt(second().url, one), await openAt(first().url, elsewhere)]).toEqual([
      303, 200,
    ]);
    await elsewhere.post('/sign-out-everywhere');
    expect(await openAt(first().url, elsewhere)).toBe(303);
  });

  it('end what is open of somebody who is removed at one', async () => {
    const ana = await signedInBrowser(first().url);
    await ana.get('/team');
    const token = /join\?token=([\w-]+)/.exec(
      (await ana.post('/team/invites', { note: 'Bob', role: 'owner' })).html,
    )![1]!;
    const bob = browserless(second().url);
    await bob.post('/join', {
      token,
      name: 'Bob',
      email: 'bob@example.com',
      password: 'another long password',
    });
    expect(await openAt(first().url, bob)).toBe(200);
    const id = /\/team\/members\/(mbr_\w+)\/remove"[^>]*>(?:(?!<\/form>).)*Remove Bob/s.exec(
      (await ana.get('/team')).html,
    )![1]!;
    await ana.post(`/team/members/${id}/remove`);
    for (const { url } of [first(), second()]) expect(await openAt(url, bob)).toBe(303);
  });

  it('refuse a key at both once it is revoked at one', async () => {
    const ana = await signedInBrowser(first().url);
    await ana.get('/keys');
    const key = /cs_live_\w{32}/.exec((await ana.post('/keys', { name: 'Short-lived' })).html)![0];
    const statuses = () =>
      Promise.all(
        [first(), second()].map(({ url }) =>
          apiClient(url, key)
            .get('/api/hooks/events')
            .then(({ status }) => status),
        ),
      );
    expect(await statuses()).toEqual([200, 200]);
    const { html } = await ana.get('/keys');
    await ana.post(/action="(\/keys\/key_\w+\/revoke)"[^>]*“Short-lived”/.exec(html)![1]!);
    expect(await statuses()).toEqual([401, 401]);
  });
});
