// Which customers wait for an answer of the team, and who of the team hears of them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless } from '../../helpers/browserless.ts';
import { startExecutionHost, type ExecutionHost } from '../../helpers/restingExecution.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { teamOfTwo } from '../../helpers/teamOfTwo.ts';
import { agentSays } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { askCustomer, startTalk } from '../waits/support.ts';

const QUIET_MS = 60_000;

describe('customers', () => {
  let service: TestService;
  let n8n: ExecutionHost;
  let ana: Browserless;
  let ben: Browserless;
  let anaId: string;
  let benId: string;
  let aheadMs = 0;

  beforeAll(async () => {
    n8n = await startExecutionHost(() => service.api);
    service = await startTestService({
      ca: n8n.ca,
      clock: { now: () => new Date(Date.now() + aheadMs) },
      env: { ...MEMBER_ENV, AGENT_QUIET_MS: String(QUIET_MS) },
    });
    ({ ana, ben, benId } = await teamOfTwo(service));
    const { body } = await service.api.get('/api/members');
    anaId = body.data.find(({ name }: { name: string }) => name === 'ana').id;
  });
  beforeEach(async () => {
    const { body } = await service.api.get('/api/conversations?limit=50');
    for (const { id, status } of body.data)
      if (status !== 'closed') await close(`/api/conversations/${id}`);
    await turnAgent('off');
  });
  afterAll(async () => {
    await service?.stop();
    await n8n?.close();
  });

  const close = (path: string) =>
    service.api.post(`${path}/close`, { summary: 'Done.', verdict: 'unknown' });
  const turnAgent = (state: 'on' | 'off') =>
    service.api.patch('/api/agent', { enabled: state === 'on', greeting: '' });

  /** The agent takes its turn after this, and not before. */
  const customersAreQuiet = () => void (aheadMs += QUIET_MS);

  type Talk = Awaited<ReturnType<typeof arrive>>;
  async function arrive(name: string, text = 'Hello') {
    const customer = await chatCustomer(service.url, { name });
    const { conversation_id: id } = await customer.write(text);
    return { customer, id, page: `/conversations/${id}`, path: `/api/conversations/${id}` };
  }
  const answer = ({ path }: Talk, more: object = {}) =>
    service.api.post(`${path}/messages`, { text: 'An answer', ...more });
  async function reply(member: Browserless, { page }: Talk) {
    await member.get(page);
    await member.post(`${page}/reply`, { text: 'An answer' });
  }
  async function act(member: Browserless, { page }: Talk, verb: 'take-over' | 'hand-back') {
    await member.get(page);
    await member.post(`${page}/${verb}`);
  }

  /** The names in the tab, from its first row. */
  const waiting = async (member = ana) =>
    [
      ...(await member.get('/conversations?tab=waiting')).html.matchAll(
        /<bdi class="who">([^<]+)</g,
      ),
    ].map(([, name]) => name);
  const counted = async (member = ana) => (await member.get('/conversations/count')).text;
  const alertsOf = async (member: Browserless) =>
    JSON.parse((await member.get('/conversations/alerts')).html).waiting.map(
      ({ customer }: { customer: string }) => customer,
    );
  const nextOf = async (member: Browserless, from = '') =>
    (await member.get(`/conversations/next-waiting?from=${from}`)).path;

  it('wait from their first message to the answer while the agent is off', async () => {
    const clara = await arrive('Clara');
    const tom = await arrive('Tom');
    await clara.customer.write('Is anybody there?');
    expect(await waiting()).toEqual(['Clara', 'Tom']);
    expect(await counted()).toBe('2');
    expect((await ana.get(clara.page)).text).toContain('Waiting for a person');
    await answer(clara);
    expect(await waiting()).toEqual(['Tom']);
    await close(tom.path);
    expect(await waiting()).toEqual([]);
    expect(await counted()).toBe('');
  });

  it('wait again when they write after a person’s answer, in the order in which they wrote', async () => {
    const clara = await arrive('Clara');
    const tom = await arrive('Tom');
    await reply(ana, clara);
    expect(await waiting()).toEqual(['Tom']);
    await clara.customer.write('And in blue?');
    expect(await waiting(ben)).toEqual(['Tom', 'Clara']);
    await reply(ana, clara);
    await reply(ben, tom);
    expect(await waiting()).toEqual([]);
  });

  it('do not wait while the agent is on, until it hands over; what it says then is no answer', async () => {
    await turnAgent('on');
    const clara = await arrive('Clara');
    expect(await waiting()).toEqual([]);
    customersAreQuiet();
    await agentSays(clara.customer);
    await clara.customer.write('Can I talk to a person, please?');
    customersAreQuiet();
    await waitFor('the hand-over', async () => (await counted()) === '1');
    await agentSays(clara.customer, 2);
    expect(await waiting()).toEqual(['Clara']);
  });

  it.each([
    ['', async () => {}],
    [', with a message sent beside it', (talk: Talk) => answer(talk, { pause_agent: false })],
  ])('wait when the agent is turned off before its turn%s', async (_more, sent) => {
    await turnAgent('on');
    await sent(await arrive('Clara'));
    await turnAgent('off');
    customersAreQuiet();
    await waitFor('the turn that is not taken', async () => (await counted()) === '1');
  });

  it('wait until they are answered, even after a member has taken over', async () => {
    const clara = await arrive('Clara');
    await act(ana, clara, 'take-over');
    expect(await waiting(ben)).toEqual(['Clara']);
    await turnAgent('on');
    const tom = await arrive('Tom');
    await act(ben, tom, 'take-over');
    expect(await waiting()).toEqual(['Clara', 'Tom']);
  });

  it('who are handed back to the agent wait no longer when it is on, and wait on when it is off', async () => {
    const clara = await arrive('Clara');
    await act(ana, clara, 'take-over');
    await act(ana, clara, 'hand-back');
    expect(await waiting()).toEqual(['Clara']);
    await act(ana, clara, 'take-over');
    await turnAgent('on');
    await act(ana, clara, 'hand-back');
    expect(await waiting()).toEqual([]);
    await agentSays(clara.customer);
  });

  it('wait on after a message that goes out beside the agent', async () => {
    const clara = await arrive('Clara');
    await answer(clara, { pause_agent: false });
    expect(await waiting()).toEqual(['Clara']);
  });

  it('do not wait when they answer a workflow’s question, but do when it is withdrawn unread', async () => {
    const talk = await startTalk(service);
    expect(await counted()).toBe('1');
    const wait = await askCustomer(service, talk, n8n.execution());
    await talk.customer.write('A-1042');
    expect(await counted()).toBe('');
    await service.api.post(`/api/waits/${wait.id}/cancel`, {});
    expect(await counted()).toBe('1');
  });

  it('who wait are told to the whole team, or only to the one who has them', async () => {
    const clara = await arrive('Clara');
    expect([await alertsOf(ana), await alertsOf(ben)]).toEqual([['Clara'], ['Clara']]);
    await reply(ana, clara);
    await clara.customer.write('And in blue?');
    expect([await alertsOf(ana), await alertsOf(ben)]).toEqual([['Clara'], []]);
    // A workflow that answers by the API has the customer then.
    const tom = await arrive('Tom');
    await answer(tom);
    await tom.customer.write('Thanks');
    expect([await alertsOf(ana), await alertsOf(ben)]).toEqual([['Clara'], []]);
    expect(await waiting()).toEqual(['Clara', 'Tom']);
  });

  it('who wait come in turn, last those whom a colleague has', async () => {
    const [clara, tom, una] = [await arrive('Clara'), await arrive('Tom'), await arrive('Una')];
    await act(ben, clara, 'take-over');
    expect(await nextOf(ana)).toContain(tom.id);
    expect(await nextOf(ana, tom.id)).toContain(una.id);
    expect(await nextOf(ana, una.id)).toContain(tom.id);
    expect(await nextOf(ben, una.id)).toContain(clara.id);
    await reply(ana, tom);
    expect(await nextOf(ana, una.id)).toContain(clara.id);
    await reply(ana, una);
    expect(await nextOf(ana)).toContain(clara.id);
    expect(await nextOf(ana, clara.id)).toContain(clara.id);
  });

  it('who wait are the only ones that a search in their tab finds', async () => {
    await arrive('Clara', 'My parcel is late');
    await answer(await arrive('Tom', 'My parcel is here'));
    const { text } = await ana.get('/conversations?tab=waiting&q=parcel');
    expect(text).toContain('late');
    expect(text).not.toContain('is here');
  });

  it('who wait are assigned to the member who takes over, unless somebody was asked to look after them', async () => {
    const assigneeOf = async ({ path }: Talk) => (await service.api.get(path)).body.assignee?.name;
    const clara = await arrive('Clara');
    await reply(ana, clara);
    expect(await assigneeOf(clara)).toBe('ana');
    await act(ben, clara, 'take-over');
    expect(await assigneeOf(clara)).toBe('Ben');
    const tom = await arrive('Tom');
    await service.api.post(`${tom.path}/assign`, { member_id: anaId });
    await act(ben, tom, 'take-over');
    expect(await assigneeOf(tom)).toBe('ana');
    const una = await arrive('Una');
    await answer(una);
    expect(await assigneeOf(una)).toBeUndefined();
  });

  // The last test: Ben is gone then.
  it('whom a removed member had wait for a person, and the rest of the team hears of them', async () => {
    const [clara, tom, una] = [await arrive('Clara'), await arrive('Tom'), await arrive('Una')];
    await reply(ben, clara);
    await act(ben, tom, 'take-over');
    await service.api.post(`${tom.path}/assign`, { member_id: anaId });
    await reply(ben, una);
    await close(una.path);
    expect([await waiting(), await alertsOf(ana)]).toEqual([['Tom'], []]);
    aheadMs += 1000;
    const since = new Date(Date.now() + aheadMs).toISOString();
    await ana.get('/team');
    await ana.post(`/team/members/${benId}/remove`);
    const changed = await service.api.get(`/api/conversations?updated_since=${since}`);
    expect(changed.body.data.map(({ id }: Talk) => id).toSorted()).toEqual(
      [clara.id, tom.id].toSorted(),
    );
    await clara.customer.write('And in blue?');
    expect(await waiting()).toEqual(['Tom', 'Clara']);
    expect(await alertsOf(ana)).toEqual(['Clara', 'Tom']);
    expect(await nextOf(ana)).toContain(tom.id);
    const statusOf = async ({ path }: Talk) => (await service.api.get(path)).body.status;
    const statuses = [await statusOf(clara), await statusOf(tom), await statusOf(una)];
    expect(statuses).toEqual(['awaiting_human', 'awaiting_human', 'closed']);
    expect((await ana.get(clara.page)).text).toContain('Waiting for a person');
    await reply(ana, clara);
    expect(await waiting()).toEqual(['Tom']);
    await clara.customer.write('In green, then.');
    expect(await alertsOf(ana)).toEqual(['Clara', 'Tom']);
  });
});
