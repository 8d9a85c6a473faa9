// Who of the team looks after a conversation.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless } from '../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { teamOfTwo } from '../../helpers/teamOfTwo.ts';

describe('assigning a conversation', () => {
  let service: TestService;
  let ana: Browserless;
  let ben: Browserless;
  let benId: string;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    ({ ana, ben, benId } = await teamOfTwo(service));
  });
  afterAll(() => service?.stop());

  const begin = async (name: string) => {
    const { conversation_id: id } = await (await chatCustomer(service.url, { name })).write('Hi');
    return { id, page: `/conversations/${id}`, path: `/api/conversations/${id}` };
  };
  const assigneeOf = async (path: string) => (await service.api.get(path)).body.assignee;

  it('by the API is on the record and in the thread, and changes neither control nor the agent', async () => {
    const { path, page } = await begin('Aisha');
    const before = (await service.api.get(path)).body;
    expect(before.assignee).toBeNull();
    const { status, body } = await service.api.post(`${path}/assign`, { member_id: benId });
    expect(status).toBe(200);
    expect(body).toMatchObject({ assignee: { id: benId, name: 'Ben' }, status: before.status });
    expect((await ana.get(page)).text).toContain('Default key (API) assigned this to Ben');
    const again = await service.api.post(`${path}/assign`, { member_id: benId });
    expect(again.body.updated_at).toBe(body.updated_at);
    expect(
      (await service.api.post(`${path}/assign`, { member_id: null })).body.assignee,
    ).toBeNull();
    expect((await ana.get(page)).text).toContain('Default key (API) unassigned Ben');
  });

  it('refuses a member of nobody’s team, a missing id, and a conversation that is not there', async () => {
    const { path } = await begin('Bo');
    const unknown = 'mbr_00000000000000000000000000';
    const { status, body } = await service.api.post(`${path}/assign`, { member_id: unknown });
    expect([status, body.error.param]).toEqual([400, 'member_id']);
    expect((await service.api.post(`${path}/assign`, {})).status).toBe(400);
    const gone = '/api/conversations/conv_00000000000000000000000000/assign';
    expect((await service.api.post(gone, { member_id: benId })).status).toBe(404);
    expect(await assigneeOf(path)).toBeNull();
  });

  it('by a member is a sentence in the thread, for oneself and for others', async () => {
    const { path, page } = await begin('Clara');
    await ben.get(page);
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

  it('ends when the member is removed, also in a closed conversation', async () => {
    const open = await begin('Delia');
    const closed = await begin('Ewa');
    for (const { path } of [open, closed])
      await service.api.post(`${path}/assign`, { member_id: benId });
    await service.api.post(`${closed.path}/close`, { summary: 'Done.', verdict: 'unknown' });
    await ana.get('/team');
    await ana.post(`/team/members/${benId}/remove`);
    for (const { path } of [open, closed]) expect(await assigneeOf(path)).toBeNull();
    expect((await service.api.get('/api/members')).body.data).toHaveLength(1);
    const { status } = await service.api.post(`${open.path}/assign`, { member_id: benId });
    expect(status).toBe(400);
  });
});
