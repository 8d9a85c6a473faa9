// The team decides what workflows ask: on cards in the thread, on the Decisions screen, and on the
// page of each question.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  MEMBER_ENV,
  browserless,
  signedInBrowser,
  type Browserless,
} from '../../../helpers/browserless.ts';
import { SIGNATURE } from '../../../helpers/restingExecution.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  askCustomer,
  askNewCustomer,
  askTeam,
  goesOn,
  startTalk,
  startWaitStage,
  waitOf,
  type WaitStage,
} from '../support.ts';

const APPROVE = { verdict: 'approve', note: '' };
const BEA = { name: 'Bea', email: 'bea@example.com', password: 'another good password' };

describe('what workflows ask, on the screens', () => {
  let stage: WaitStage;
  let ana: Browserless;
  let bea: Browserless;

  beforeAll(async () => {
    stage = await startWaitStage({ env: { ...MEMBER_ENV, AGENT_QUIET_MS: '30' } });
    ana = await signedInBrowser(stage.url);
    bea = await join();
  });
  afterAll(() => stage?.close());

  async function join() {
    const { name, ...credentials } = BEA;
    const { text } = await ana.post('/team/invites', { note: name });
    const token = /\/join\?token=([\w-]+)/.exec(text)![1]!;
    await browserless(stage.url).post('/join', { token, name, ...credentials });
    return signedInBrowser(stage.url, credentials);
  }
  const count = async () => (await ana.get('/waiting/count')).html;
  const waitForText = (path: string, words: string) =>
    waitFor(`${path} to say ${words}`, async () => (await ana.get(path)).text.includes(words));

  it('shows the question with its details in the thread, and takes a decision with a note', async () => {
    const execution = stage.n8n.execution();
    const { conversationId } = await startTalk(stage, { name: 'María' });
    const { id } = await askTeam(stage, execution, {
      conversation_id: conversationId,
      message: 'Refund 49 EUR to <María>?',
      details: { order_number: 'A-1042', items: [{ name: 'Lamp', price: 49 }], vip: true },
      approve_label: 'Refund it',
      reject_label: 'Keep it',
    });
    const path = `/conversations/${conversationId}`;
    const { text, html } = await ana.get(path);
    expect(text).toContain('A workflow asks waits for a decision Refund 49 EUR to <María>?');
    expect(text).toContain('Order number A-1042 Items Name Lamp Price 49 Vip Yes');
    expect(text).toMatch(/Asked now by .+, for a workflow at localhost:\d+ \. Expires in 7 days/);
    expect(text).toContain('Refund it Keep it');
    expect(html).not.toContain(SIGNATURE);

    const decide = `${path}/waits/${id}/decide`;
    const decided = await ana.post(decide, { verdict: 'reject', note: 'Not within 30 days.' });
    expect(decided.path).toContain(path);
    expect(decided.text).toContain('Rejected by ana');
    expect(decided.text).toContain('Note: Not within 30 days.');
    expect(await goesOn(execution)).toMatchObject({
      status: 'rejected',
      decision: { approved: false, by: { name: 'ana' }, note: 'Not within 30 days.' },
    });
    await waitForText(path, 'The workflow has gone on.');

    const late = await bea.post(decide, APPROVE);
    expect(late.text).toContain('This was already decided or has ended.');
    expect(late.text).toContain('Rejected by ana');
    expect((await waitOf(stage, { id })).status).toBe('rejected');
  });

  it('takes one of two decisions that are made at once, and tells the other member who made it', async () => {
    for (let round = 0; round < 4; round++) {
      const execution = stage.n8n.execution();
      const { id } = await askTeam(stage, execution, { message: `Round ${round}?` });
      const decide = `/waits/${id}/decide`;
      const answers = await Promise.all([
        ana.post(decide, { verdict: 'approve', note: 'Yes.' }),
        bea.post(decide, { verdict: 'reject', note: 'No.' }),
      ]);
      const isLate = answers.map(({ text }) => text.includes('This was already decided'));
      expect(isLate.toSorted()).toEqual([false, true]);
      const byAna = !isLate[0];
      const [status, name, note] = byAna ? ['approved', 'ana', 'Yes.'] : ['rejected', 'Bea', 'No.'];
      const inWords = `${byAna ? 'Approved' : 'Rejected'} by ${name}`;
      for (const { text } of answers) expect(text).toContain(inWords);
      expect(await goesOn(execution)).toMatchObject({
        status,
        decision: { approved: byAna, by: { name }, note },
      });
      expect(execution.calls).toEqual([id]);
    }
  });

  it('leads from each thing that waits to the next one, and round again', async () => {
    const talks = [await startTalk(stage), await startTalk(stage)] as const;
    const asked: string[] = [];
    for (const conversation_id of [talks[0].conversationId, undefined, talks[1].conversationId])
      asked.push((await askTeam(stage, stage.n8n.execution(), { conversation_id })).id);
    const next = async (from: string) =>
      (await ana.get(`/waiting/next?from=${from}`)).path.split('#')[0];
    const [first, second] = talks.map(({ conversationId }) => `/conversations/${conversationId}`);
    expect(await next('')).toBe(first);
    expect(await next(talks[0].conversationId)).toBe(`/waits/${asked[1]}`);
    expect(await next(talks[1].conversationId)).toBe(first);
    await stage.api.post(`/api/waits/${asked[1]}/cancel`);
    expect(await next(talks[0].conversationId)).toBe(second);
    for (const id of asked) await stage.api.post(`/api/waits/${id}/cancel`);
  });

  it('takes a decision only from the two buttons, and no note that is too long', async () => {
    const { id } = await askTeam(stage, stage.n8n.execution());
    const wrong: Record<string, string>[] = [
      {},
      { verdict: 'yes' },
      { verdict: 'approve', note: 'x'.repeat(1001) },
    ];
    for (const values of wrong) {
      const answer = await ana.post(`/waits/${id}/decide`, values);
      expect(answer.text).toContain('Not decided. Press one of the two buttons');
    }
    expect((await waitOf(stage, { id })).status).toBe('open');
    await stage.api.post(`/api/waits/${id}/cancel`);
    expect((await ana.get(`/waits/${id}`)).text).toMatch(/Withdrawn by .+ \(API\) now/);
  });

  it('lists everything that waits for a decision, oldest first, and counts it', async () => {
    expect(await count()).toBe('');
    expect((await ana.get('/waiting')).text).toContain('Nothing waits for a decision.');
    const [one, two] = [stage.n8n.execution(), stage.n8n.execution()];
    const { conversationId } = await startTalk(stage, { name: 'Kenji' });
    const first = await askTeam(stage, one, { message: 'Publish the price list?' });
    const second = await askTeam(stage, two, {
      message: 'Send a voucher?',
      conversation_id: conversationId,
    });
    expect(await count()).toBe('2');
    const { text } = await ana.get('/waiting');
    expect(text).toMatch(
      /Without a conversation .*Publish the price list\?.* Conversation with Kenji .*Send a voucher\?/,
    );
    const after = await ana.post(`/waiting/waits/${first.id}/decide`, APPROVE);
    expect(after.path).toBe('/waiting');
    expect(await goesOn(one)).toMatchObject({ status: 'approved', decision: { note: null } });
    expect(after.text).toContain(
      'Questions that have ended approved Publish the price list? by ana , now',
    );
    const late = await bea.post(`/waiting/waits/${first.id}/decide`, { verdict: 'reject' });
    expect(late.text).toContain('This was already decided or has ended.');
    expect(late.text).toContain('Approved by ana');
    await stage.api.post(`/api/waits/${second.id}/cancel`);
    expect(await count()).toBe('');
  });

  it('has a page for each question, with every call to the workflow and its result', async () => {
    const execution = stage.n8n.execution();
    execution.answer(409, 404);
    const { id } = await askTeam(stage, execution, { message: 'Publish it?' });
    const decided = await ana.post(`/waits/${id}/decide`, APPROVE);
    expect([decided.path, decided.status]).toEqual([`/waits/${id}`, 200]);
    await goesOn(execution);
    await waitForText(`/waits/${id}`, 'The workflow has gone on.');
    const { text, html } = await ana.get(`/waits/${id}`);
    expect(text).toMatch(/200 The workflow has gone on\. .*404 .*not there.*409 .*not waiting yet/);
    expect(html).not.toContain(SIGNATURE);
    expect((await ana.get('/waits/wait_unknown')).status).toBe(404);
  });

  it('says that n8n cannot be reached, and that an execution has ended without its answer', async () => {
    const execution = stage.n8n.execution();
    await stage.n8n.goAway();
    const { id } = await askTeam(stage, execution, { message: 'Is it there?' });
    await ana.post(`/waits/${id}/decide`, APPROVE);
    await waitForText(`/waits/${id}`, 'n8n cannot be reached at localhost:');
    await waitForText(`/waits/${id}`, 'tried 2 times');
    await stage.n8n.comeBack();
    execution.answerAlways(404);
    await waitForText(`/waits/${id}`, 'answered 404');
    stage.pass(25 * 3_600_000);
    await waitForText(
      `/waits/${id}`,
      'The workflow never collected this. The execution is gone: it did not',
    );
  });

  it('does not say that the execution has ended when a newer question has its address', async () => {
    const execution = stage.n8n.execution();
    execution.answerAlways(503);
    const { id } = await askTeam(stage, execution, { message: 'The first?' });
    await ana.post(`/waits/${id}/decide`, APPROVE);
    await waitForText(`/waits/${id}`, 'answered 503');
    await askTeam(stage, execution, { message: 'The second?' });
    await waitForText(
      `/waits/${id}`,
      'The workflow never collected this. A newer wait has the same address',
    );
    expect((await ana.get(`/waits/${id}`)).text).not.toContain('execution is gone');
  });

  it('shows a question to the customer as a quiet line in the thread, where it can be cancelled', async () => {
    const { talk, wait } = await askNewCustomer(stage, {
      accept: { type: 'choice', choices: ['Tuesday', 'Thursday'] },
    });
    const path = `/conversations/${talk.conversationId}`;
    const { text, html } = await ana.get(path);
    expect(text).toContain('What is your order number? Tuesday Thursday');
    expect(text).toMatch(/A workflow waits for the customer’s reply until \d{4}-\d\d-\d\d/);
    expect(html).not.toContain(SIGNATURE);
    expect((await ana.get('/waiting')).text).not.toContain('What is your order number?');
    const { text: after } = await ana.post(`${path}/waits/${wait.id}/cancel`);
    expect(after).toContain('ana cancelled the question of the workflow.');

    const again = stage.n8n.execution();
    await askCustomer(stage, talk, again);
    await talk.customer.write('A-1042');
    expect(await goesOn(again)).toMatchObject({ answer: { text: 'A-1042' } });
    await waitForText(path, 'The workflow has its answer and has gone on.');
    expect((await ana.get(path)).text).toMatch(/A-1042 \d\d:\d\d .*The workflow has its answer/);
  });

  it('begins no day at a question whose answer, days later, is on another page of the thread', async () => {
    const talk = await startTalk(stage);
    const path = `/conversations/${talk.conversationId}`;
    const execution = stage.n8n.execution();
    const send = (text: string) =>
      stage.api.post(`/api${path}/messages`, { text, pause_agent: false });
    for (let number = 2; number < 45; number += 1) await send(`Message ${number}`);
    await askCustomer(stage, talk, execution);
    for (let number = 46; number < 55; number += 1) await send(`Message ${number}`);
    stage.pass(48 * 3_600_000);
    const dayOfAnswer = new Date(stage.now()).toISOString().slice(0, 10);
    await talk.customer.write('A-1042');
    await goesOn(execution);
    const daysOn = async (query = '') =>
      [
        ...(await ana.get(path + query)).html.matchAll(/<li class="day"><time datetime="([^"]+)"/g),
      ].map(([, day]) => day);
    expect(await daysOn()).toContain(dayOfAnswer);
    expect((await ana.get(`${path}?before=51`)).text).toMatch(
      /What is your order number\?.*The workflow has its answer.*Message 50/,
    );
    expect(await daysOn('?before=51')).not.toContain(dayOfAnswer);
  });

  it('are decided and cancelled only at the address of their own conversation', async () => {
    const { talk, wait: question } = await askNewCustomer(stage);
    const { conversationId } = talk;
    const decision = await askTeam(stage, stage.n8n.execution(), {
      conversation_id: conversationId,
    });
    const alone = await askTeam(stage, stage.n8n.execution());
    const { conversationId: other } = await startTalk(stage);
    const post = async (id: string, action: string) =>
      (await ana.post(`/conversations/${id}/waits/${action}`, APPROVE)).status;
    expect(await post(other, `${decision.id}/decide`)).toBe(404);
    expect(await post(other, `${decision.id}/cancel`)).toBe(404);
    expect(await post(other, `${question.id}/cancel`)).toBe(404);
    expect(await post(other, `${alone.id}/decide`)).toBe(404);
    for (const wait of [question, decision, alone])
      expect((await waitOf(stage, wait)).status).toBe('open');
    expect(await post(conversationId, `${decision.id}/decide`)).toBe(200);
    expect(await post(conversationId, `${question.id}/cancel`)).toBe(200);
    await stage.api.post(`/api/waits/${alone.id}/cancel`);
  });
});
