// A link for a new password ends with the role of its maker, also when both happen at once.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { browserless, MEMBER_ENV, type Browserless } from '../../helpers/browserless.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { BEN, teamOfTwo } from '../../helpers/teamOfTwo.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { holdRow } from './holdRow.ts';
import { sides } from './sides.ts';

const onPostgres = testDatabaseUrl() === null ? describe.skip : describe;

onPostgres('a link for a new password that an owner is just making', () => {
  const service = sides({ env: () => MEMBER_ENV });
  let ana: Browserless;
  let ben: Browserless;
  let anaId: string;
  let benId: string;
  beforeAll(async () => {
    const [url, otherUrl] = [service.url, service.url];
    ({ ana, benId } = await teamOfTwo({ url, api: service.api }));
    const { body } = await service.api.get('/api/members');
    anaId = body.data.find(({ id }: { id: string }) => id !== benId).id;
    ben = browserless(otherUrl);
    await ben.post('/sign-in', BEN);
  });

  it.each([
    ['becomes a member', 'role'],
    ['is removed', 'remove'],
  ])('does not work when the owner %s at the same moment', async (_, verb) => {
    await Promise.all([ana.get('/team'), ben.get('/team')]);
    await ana.post(`/team/members/${benId}/role`, { role: 'owner' });
    const held = await holdRow(service.schema!, 'members', anaId);
    const making = ben.post(`/team/members/${anaId}/reset-password`);
    await waitFor('the link to be held up', async () => (await held.countWaiting()) === 1);
    let isDone = false;
    const ending = ana
      .post(`/team/members/${benId}/${verb}`, { role: 'member' })
      .finally(() => (isDone = true));
    await waitFor(
      'the change to be done, or to be held up too',
      async () => isDone || (await held.countWaiting()) === 2,
    );
    await held.release();
    const { html, status } = await making;
    expect((await ending).path).toMatch(/^\/team\?notice=/);
    expect(status).toBe(201);
    const [link] = /\/reset-password\?token=[\w.-]+/.exec(html)!;
    expect((await browserless(service.url).get(link)).status).toBe(404);
  });
});
