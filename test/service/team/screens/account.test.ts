// What members say about themselves, and how they come back in when the password is forgotten.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deleteSessionsOf } from '../../../../service/src/team/operations/sessions.ts';
import type { Session } from '../../../../service/src/team/workspace.ts';
import { browserless, MEMBER_ENV, type Browserless } from '../../../helpers/browserless.ts';
import { openFreshStore } from '../../../helpers/openStore.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { teamOfTwo } from '../../../helpers/teamOfTwo.ts';
import { TestClock } from '../../../helpers/testClock.ts';

const DAY_MS = 86_400_000;
const PASSWORD = 'a third good password';

describe('an account', () => {
  const clock = new TestClock();
  let service: TestService;
  let ana: Browserless;
  let ben: Browserless;
  let benId: string;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV, clock });
    ({ ana, ben, benId } = await teamOfTwo(service, 'member'));
  });
  afterAll(() => service?.stop());

  const signIn = (password: string) =>
    browserless(service.url).post('/sign-in', { email: 'ben@example.com', password });
  const giveLink = async () => {
    await ana.get('/team');
    const { html, status } = await ana.post(`/team/members/${benId}/reset-password`);
    expect(status).toBe(201);
    return /reset-password\?token=([\w.-]+)/.exec(html)![1]!;
  };
  const choose = (token: string, password = PASSWORD) =>
    browserless(service.url).post('/reset-password', { token, password });

  it('has a name, and a time zone that exists', async () => {
    await ben.get('/account');
    const refused = await ben.post('/account/profile', { name: 'Benedikt', timeZone: 'Mars/Base' });
    expect([refused.status, refused.problem('timeZone')]).toEqual([
      400,
      'Choose a time zone from the list.',
    ]);
    const profile = { name: 'Benedikt', timeZone: 'Asia/Tokyo' };
    expect((await ben.post('/account/profile', profile)).path).toBe('/account?notice=saved');
    expect((await ben.get('/account')).html).toMatch(/<option value="Asia\/Tokyo" selected/);
    expect((await ana.get('/team')).text).toContain('Benedikt');
  });

  it('shows each member the times in the zone of their own profile', async () => {
    const { body } = await service.api.get('/api/members');
    const { created_at: joined } = body.data.find(({ id }: { id: string }) => id === benId);
    const inTokyo = new Date(Date.parse(joined) + 9 * 3_600_000).toISOString();
    const shown = `${inTokyo.slice(0, 19).replace('T', ' ')} (Asia/Tokyo)`;
    expect((await ben.get('/team')).html).toContain(`title="${shown}"`);
    const utc = `${joined.slice(0, 19).replace('T', ' ')} UTC`;
    expect((await ana.get('/team')).html).toContain(`title="${utc}"`);
  });

  it('of an owner gets no link from the owner’s own session: the current password is asked for', async () => {
    const { body } = await service.api.get('/api/members');
    const { id } = body.data.find((each: { id: string }) => each.id !== benId);
    await ana.get('/team');
    const { status, text, html } = await ana.post(`/team/members/${id}/reset-password`);
    expect([status, text]).toEqual([
      400,
      expect.stringContaining('Change your own password under Your account.'),
    ]);
    expect(html).not.toContain('/reset-password?token=');
  });

  it('gets another password by a link of an owner, once, and is signed out everywhere', async () => {
    const replaced = await giveLink();
    const token = await giveLink();
    expect((await ana.get('/team')).html).not.toContain(token);
    expect(await service.stored()).not.toContain(token.split('.')[1]);
    expect((await choose(replaced)).status).toBe(404);
    expect((await ben.get('/account')).status).toBe(200);
    expect((await choose(token, 'short')).problem('password')).toContain('at least 10');
    const used = await Promise.all([choose(token), choose(token)]);
    expect(used.map(({ path }) => path).sort()).toEqual([
      '/reset-password',
      '/sign-in?notice=password-reset',
    ]);
    expect((await ben.get('/account')).path).toMatch(/^\/sign-in/);
    expect((await signIn('a second good password')).status).toBe(401);
    expect((await signIn(PASSWORD)).path).toBe('/conversations');
    expect((await choose(token)).status).toBe(404);
  });

  it('keeps its password when the link is not used within 24 hours', async () => {
    const token = await giveLink();
    clock.advance(DAY_MS + 1);
    expect((await browserless(service.url).get(`/reset-password?token=${token}`)).status).toBe(404);
    expect((await choose(token, 'yet another password')).status).toBe(404);
    expect((await signIn(PASSWORD)).path).toBe('/conversations');
  });

  it('refuses an incomplete link', async () => {
    for (const token of ['', '.', benId, `${benId}.`, `${benId}.x`, '.x'])
      expect((await choose(token)).status).toBe(404);
  });
});

it('all sessions of a member end except the one that is kept, however many there are', async () => {
  const { store, remove } = await openFreshStore();
  try {
    await store.transaction(async (tx) => {
      for (let n = 0; n < 2_001; n += 1)
        await tx.sessions.put({ id: `${n}`, kind: 'session', memberId: 'mbr_1' } as Session);
    });
    await store.transaction((tx) => deleteSessionsOf(tx, 'mbr_1', '7'));
    const left = await store.transaction((tx) =>
      tx.sessions.find({ where: { memberId: 'mbr_1' }, limit: 10 }),
    );
    expect(left.map(({ id }) => id)).toEqual(['7']);
  } finally {
    await remove();
  }
});

it('the first page of an owner is the overview, that of a member the conversations', async () => {
  const service = await startTestService({ env: MEMBER_ENV });
  try {
    const { ana, ben } = await teamOfTwo(service, 'member');
    expect((await ana.get('/')).path).toBe('/overview');
    expect((await ben.get('/')).path).toBe('/conversations');
    expect((await browserless(service.url).get('/')).path).toBe('/sign-in');
    expect((await ana.get('/conversations')).html).toMatch(/class="brand" href="\/"/);
  } finally {
    await service.stop();
  }
});
