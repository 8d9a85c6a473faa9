// Two members at the same conversations: who looks and writes, whose answer is first, who looks
// after which.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless } from '../../helpers/browserless.ts';
import { readChatStream } from '../../helpers/chatStreamReader.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { teamOfTwo } from '../../helpers/teamOfTwo.ts';
import { waitFor } from '../../helpers/waitFor.ts';

let service: TestService;
let ana: Browserless;
let ben: Browserless;
let benId: string;
let now = Date.parse('2026-11-21T10:00:00Z');
beforeAll(async () => {
  service = await startTestService({ env: MEMBER_ENV, clock: { now: () => new Date(now) } });
  ({ ana, ben, benId } = await teamOfTwo(service));
});
afterAll(() => service?.stop());

/** A customer writes, and both members read it. */
const begin = async (name: string) => {
  const customer = await chatCustomer(service.url, { name });
  const { conversation_id: id } = await customer.write('Hello?');
  const page = `/conversations/${id}`;
  await Promise.all([ana.get(page), ben.get(page)]);
  const texts = async () => (await customer.read()).map(({ text }) => text);
  return { customer, page, path: `/api${page}`, texts };
};

describe('who looks at a conversation', () => {
  const say = (who: Browserless, doing: string, page: string) =>
    who.post(`${page}/presence`, { doing });

  it('is told to the others, with who writes, and to nobody of themselves', async () => {
    const { page } = await begin('Aisha');
    expect((await say(ben, 'looking', page)).status).toBe(204);
    expect((await ana.get(page)).text).toContain('Ben is here too');
    expect((await ana.get(`${page}/presence`)).text).toBe('B Ben is here too');
    await say(ben, 'writing', page);
    expect((await ana.get(`${page}/presence`)).text).toBe('B Ben is here too Ben is writing…');
    expect((await ben.get(`${page}/presence`)).text).toBe('');
    await say(ben, 'left', page);
    expect((await ana.get(page)).text).not.toContain('Ben is here');
  });

  it('is told neither to the customer nor by the API', async () => {
    const { customer, page, path } = await begin('Bo');
    const stream = await readChatStream(service.url, customer.token);
    await say(ben, 'writing', page);
    await ben.post(`${page}/note`, { note: 'They sound upset.' });
    await ben.post(`${page}/reply`, { text: 'Good morning' });
    await waitFor('the reply', () => stream.seen.some(({ text }) => text === 'Good morning'));
    expect(stream.told).toEqual(['Hello?', 'Good morning']);
    const { body } = await service.api.get(path);
    expect(JSON.stringify(body)).not.toMatch(/writing|presence|upset/);
    stream.close();
  });

  it('refuses what no page says, and a conversation that does not exist', async () => {
    expect((await say(ben, 'dancing', (await begin('Clara')).page)).status).toBe(400);
    const missing = '/conversations/conv_01JXXXXXXXXXXXXXXXXXXXXXXX';
    expect((await say(ben, 'looking', missing)).status).toBe(404);
    expect((await ana.get(`${missing}/presence`)).status).toBe(404);
  });
});

describe('two answers at the same time', () => {
  it('the second is told who was first, and keeps the text, which can then be sent', async () => {
    const { page, texts } = await begin('Delia');
    const pages = await Promise.all([
      ana.post(`${page}/reply`, { text: 'From ana.', seen: '1' }),
      ben.post(`${page}/reply`, { text: 'From Ben.', seen: '1' }),
    ]);
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const isAnaLate = pages[0].status === 409;
    const [first, late, browser] = isAnaLate ? ['Ben', 'ana', ana] : ['ana', 'Ben', ben];
    const refused = pages[isAnaLate ? 0 : 1];
    expect(refused.text).toContain(
      `${first} has just answered: see above. Your reply was not sent.`,
    );
    expect(refused.html).toContain(`>From ${late}.</textarea>`);
    expect(refused.value('seen')).toBe('2');
    expect(await texts()).toEqual(['Hello?', `From ${first}.`]);
    const again = await browser.post(`${page}/reply`, { text: `From ${late}.`, seen: '2' });
    expect(again.path).toBe(page);
    expect(await texts()).toEqual(['Hello?', `From ${first}.`, `From ${late}.`]);
  });

  it('an older answer, one’s own, and one that was on the page hold nobody up', async () => {
    const { page, texts } = await begin('Delia');
    await ana.post(`${page}/reply`, { text: 'One.', seen: '1' });
    await ana.post(`${page}/reply`, { text: 'Two.', seen: '1' });
    now += 20_000;
    await ben.post(`${page}/reply`, { text: 'Three.', seen: '1' });
    await ana.post(`${page}/reply`, { text: 'Four.', seen: '4' });
    expect(await texts()).toEqual(['Hello?', 'One.', 'Two.', 'Three.', 'Four.']);
  });
});

describe('assigning a conversation', () => {
  const assign = (path: string, memberId: string | null) =>
    service.api.post(`${path}/assign`, { member_id: memberId });
  const assigneeOf = async (path: string) => (await service.api.get(path)).body.assignee;

  it('by the API is on the record and in the thread, and changes neither control nor the agent', async () => {
    const { path, page } = await begin('Aisha');
    const before = (await service.api.get(path)).body;
    expect(before.assignee).toBeNull();
    const { status, body } = await assign(path, benId);
    expect(status).toBe(200);
    expect(body).toMatchObject({ assignee: { id: benId, name: 'Ben' }, status: before.status });
    expect((await ana.get(page)).text).toContain('Default key (API) assigned this to Ben');
    now += 1000;
    expect((await assign(path, benId)).body.updated_at).toBe(body.updated_at);
    expect((await assign(path, null)).body.assignee).toBeNull();
    expect((await ana.get(page)).text).toContain('Default key (API) unassigned Ben');
  });

  it('refuses an unknown member, a missing id, and a conversation that does not exist', async () => {
    const { path } = await begin('Bo');
    const { status, body } = await assign(path, 'mbr_00000000000000000000000000');
    expect([status, body.error.param]).toEqual([400, 'member_id']);
    expect((await service.api.post(`${path}/assign`, {})).status).toBe(400);
    const missing = '/api/conversations/conv_00000000000000000000000000';
    expect((await assign(missing, benId)).status).toBe(404);
    expect(await assigneeOf(path)).toBeNull();
  });

  it('by a member is a sentence in the thread, for oneself and for others', async () => {
    const { path, page } = await begin('Clara');
    expect((await ben.post(`${page}/assign`, { member: benId })).text).toContain(
      'Ben assigned this to themselves',
    );
    expect(await assigneeOf(path)).toEqual({ id: benId, name: 'Ben' });
    const shown = await ana.get(page);
    expect(shown.html).toMatch(new RegExp(`<option value="${benId}" selected[^>]*>Ben</option>`));
    const anaId = /<option value="(mbr_\w+)"[^>]*>[^<]*\(you\)/.exec(shown.html)![1]!;
    const mine = await ana.post(`${page}/assign`, { member: anaId });
    expect(mine.text).toContain('ana assigned this to themselves');
    expect(mine.html).not.toContain('Assign to me');
    const given = await ana.post(`${page}/assign`, { member: benId });
    expect(given.text).toContain('ana assigned this to Ben');
    expect((await ana.post(`${page}/assign`, { member: '' })).text).toContain('ana unassigned Ben');
    const refused = await ana.post(`${page}/assign`, { member: 'mbr_00000000000000000000000000' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('this member is no longer in the team');
  });

  // The last test: Ben is gone then.
  it('ends when the member is removed, also in a closed conversation', async () => {
    const open = await begin('Delia');
    const closed = await begin('Ewa');
    for (const { path } of [open, closed]) await assign(path, benId);
    await service.api.post(`${closed.path}/close`, { summary: 'Done.', verdict: 'unknown' });
    await ana.get('/team');
    await ana.post(`/team/members/${benId}/remove`);
    for (const { path } of [open, closed]) expect(await assigneeOf(path)).toBeNull();
    expect((await service.api.get('/api/members')).body.data).toHaveLength(1);
    expect((await assign(open.path, benId)).status).toBe(400);
  });
});
