// A customer whose words no workflow reads is not left alone: the agent or a person answers them.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import {
  startExecutionHost,
  type ExecutionHost,
  type RestingExecution,
} from '../../helpers/restingExecution.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  answers,
  says,
  startWorkflowStage,
  type Talk,
  type WorkflowStage,
} from '../agent/webhook/workflowStage.ts';
import { askCustomer, decide, goesOn, postWait, waitOf, type Json } from './support.ts';

const IS_GONE = { status: 404, message: 'The execution "7" does not exist.' };

describe('what a customer writes to a question that', () => {
  let stage: WorkflowStage;
  let n8n: ExecutionHost;

  beforeAll(async () => {
    n8n = await startExecutionHost(() => stage.api);
    // Long enough for what a test does before a message is judged.
    stage = await startWorkflowStage({ ca: n8n.ca, env: { ...MEMBER_ENV, AGENT_QUIET_MS: '500' } });
  });
  beforeEach(() => stage.workflow.forget());
  afterEach(() => stage.api.patch('/api/agent', { enabled: true }));
  afterAll(async () => {
    await stage?.close();
    await n8n?.close();
  });

  const ask = (talk: Talk, execution: RestingExecution, fields?: Json): Promise<Json> =>
    askCustomer(stage, { conversationId: talk.id }, execution, fields);
  /** A customer whose first message is dealt with. The next turn answers. */
  const begin = async (): Promise<Talk> => {
    stage.workflow.answer(answers({}));
    const talk = await stage.talk('Hello');
    await talk.turnIn('answered');
    stage.workflow.answer(says('I can help.'));
    return talk;
  };
  const wordsOfTurn = async (nth: number): Promise<string[]> =>
    (await stage.workflow.turn(nth)).body.messages.map(({ text }: Json) => text as string);
  /** Whether the conversation is in the list of customers who wait for the team. */
  const isWaiting = async ({ id }: Talk): Promise<boolean> => {
    const member = await signedInBrowser(stage.service.url);
    return (await member.get('/conversations?tab=waiting')).html.includes(id);
  };
  const waitsForPerson = (talk: Talk): Promise<Json> =>
    waitFor('the conversation to wait for a person', async () => {
      const record = await talk.record();
      return record.status === 'awaiting_human' ? record : null;
    });

  it('is cancelled is answered by the agent, and the execution goes on', async () => {
    const talk = await begin();
    const execution = n8n.execution();
    const wait = await ask(talk, execution, { accept: { type: 'number' } });
    await talk.write('I have none, please help');
    await waitFor('the question to be asked again', async () => {
      const { messages } = await talk.record();
      return messages.filter(({ wait_id }: Json) => wait_id === wait.id).length >= 3;
    });
    await talk.write('hello?');
    const { body } = await stage.api.post(`/api/waits/${wait.id}/cancel`);
    expect(body).toMatchObject({ status: 'cancelled', cancelled_by: { type: 'api' } });
    expect(await talk.reply()).toBe('I can help.');
    expect(await wordsOfTurn(2)).toEqual(['I have none, please help', 'hello?']);
    expect(await goesOn(execution)).toMatchObject({ status: 'cancelled', answer: null });
  });

  it('a person took over is answered by the agent after the hand-back', async () => {
    const talk = await begin();
    const execution = n8n.execution();
    await ask(talk, execution, { accept: { type: 'number' } });
    await talk.write('Can you help me?');
    await talk.act('takeover');
    expect(await goesOn(execution)).toMatchObject({ status: 'taken_over' });
    expect(stage.workflow.turns).toHaveLength(1);
    await talk.act('handback');
    expect(await talk.reply()).toBe('I can help.');
    expect(await wordsOfTurn(2)).toEqual(['Can you help me?']);
  });

  it('was asked in a turn and is cancelled is answered once, by the next turn', async () => {
    const { talk, id } = await stage.acceptedTurn('Where is my order?');
    const execution = n8n.execution();
    const wait = await ask(talk, execution, { turn_id: id, accept: { type: 'number' } });
    await talk.write('I have no number');
    stage.workflow.answer(says('I can help.'));
    await stage.api.post(`/api/waits/${wait.id}/cancel`);
    await goesOn(execution);
    const late = await stage.operate(id, 'replies', { text: 'It was withdrawn.' });
    expect([late.status, late.body.error.code]).toEqual([409, 'turn_superseded']);
    expect(await talk.reply(2)).toBe('I can help.');
    expect(await wordsOfTurn(2)).toEqual(['I have no number']);
    expect(await talk.replies()).toHaveLength(2);
  });

  it('is open stays with that question: another one of the same turn and address is refused', async () => {
    const { talk, id } = await stage.acceptedTurn('Where is my order?');
    const execution = n8n.execution();
    const question = { turn_id: id, accept: { type: 'number' } };
    const wait = await ask(talk, execution, question);
    await talk.write('I have no number');
    const again = await postWait(stage, execution, {
      kind: 'reply',
      conversation_id: talk.id,
      message: 'And your postcode?',
      ...question,
    });
    expect([again.status, again.body.error?.code]).toEqual([409, 'turn_superseded']);
    expect(await talk.replies()).not.toContain('And your postcode?');
    // Nothing has changed: what they wrote is still with the first question.
    expect((await waitOf(stage, wait)).status).toBe('open');
    await talk.turnIn('suspended');
    await talk.write('5');
    expect((await goesOn(execution)).answer.value).toBe(5);
    const replied = await stage.operate(id, 'replies', { text: 'It is on its way.' });
    expect(replied.status).toBe(201);
  });

  it('has lost its execution goes to a person', async () => {
    const talk = await begin();
    const execution = n8n.execution();
    execution.answerAlways(IS_GONE);
    const wait = await ask(talk, execution);
    await talk.write('my number is 5');
    const { handover } = await waitsForPerson(talk);
    expect(handover.reason).toBe('agent_error');
    expect(handover.note).toMatch(/the answer reached nobody\. .*does not exist/);
    expect(await talk.replies()).toHaveLength(1);
    expect(await waitOf(stage, wait)).toMatchObject({
      status: 'answered',
      collected_at: null,
      resume: { state: 'gave_up' },
    });
  });

  it.each([
    ['the agent is off', () => stage.api.patch('/api/agent', { enabled: false })],
    ['a person is in control', (talk: Talk) => talk.act('takeover')],
  ])('has lost its execution while %s waits for the team', async (_, leave) => {
    const talk = await begin();
    await leave(talk);
    const execution = n8n.execution();
    execution.answerAlways(IS_GONE);
    const wait = await ask(talk, execution);
    await talk.write('my number is 5');
    await waitFor('the execution to be given up', async () => {
      const { resume } = await waitOf(stage, wait);
      return resume.state === 'gave_up';
    });
    expect(await isWaiting(talk)).toBe(true);
  });

  it('has lost its execution waits for nobody when the team has answered since', async () => {
    const talk = await begin();
    await talk.act('takeover');
    const execution = n8n.execution();
    execution.answerAlways(409);
    const wait = await ask(talk, execution);
    await talk.write('my number is 5');
    await waitFor('a call of the execution', () => execution.calls.length > 0);
    await stage.api.post(`/api/conversations/${talk.id}/messages`, { text: 'I have seen it.' });
    execution.answerAlways(IS_GONE);
    await waitFor('the execution to be given up', async () => {
      const { resume } = await waitOf(stage, wait);
      return resume.state === 'gave_up';
    });
    expect(await isWaiting(talk)).toBe(false);
  });

  it("has lost its execution fails the agent's turn at once, with the reason", async () => {
    const { talk, id } = await stage.acceptedTurn('Where is my order?');
    const execution = n8n.execution();
    execution.answerAlways(IS_GONE);
    await ask(talk, execution, { turn_id: id });
    await talk.write('5');
    const failed = await talk.turnIn('failed');
    expect(failed.problem).toMatch(/did not go on when its wait had ended\. .*does not exist/);
    const { handover, messages } = await waitsForPerson(talk);
    expect(handover).toMatchObject({ reason: 'agent_error', note: failed.problem });
    expect(messages.at(-1).sender.type).toBe('agent');
  });

  it.each(['number', 'any'])('accepts %s gets them a person when they want one', async (type) => {
    const talk = await begin();
    const execution = n8n.execution();
    await ask(talk, execution, { accept: { type } });
    await talk.write('I want to talk to a person');
    expect(await goesOn(execution)).toMatchObject({ status: 'taken_over', answer: null });
    const { handover } = await waitsForPerson(talk);
    expect(handover.reason).toBe('customer_request');
    expect(stage.workflow.turns).toHaveLength(1);
  });

  it("was asked in a turn gets them a person when they ask for one, and ends the workflow's turn", async () => {
    const { talk, id } = await stage.acceptedTurn('Where is my order?');
    const execution = n8n.execution();
    await ask(talk, execution, { turn_id: id });
    await talk.write('I want to talk to a person');
    await goesOn(execution);
    expect((await talk.record()).status).toBe('awaiting_human');
    expect((await stage.operate(id, 'replies', { text: 'Wait!' })).status).toBe(409);
  });

  it('is open while another turn hands over goes to the person', async () => {
    const { talk, id: first } = await stage.acceptedTurn('I want my money back');
    const [decided, asked] = [n8n.execution(), n8n.execution()];
    const decision = { kind: 'decision', turn_id: first, message: 'Refund?' };
    const card = await ask(talk, decided, decision);
    await talk.write('And my lamp?');
    const second = (await stage.workflow.turn(2)).body;
    expect(second.suspended_turns).toBe(1);
    const wait = await ask(talk, asked, { turn_id: second.turn_id, accept: { type: 'number' } });
    await decide(stage, card, { approved: false });
    await goesOn(decided);
    expect((await stage.operate(first, 'hand-over')).status).toBe(200);
    expect(await goesOn(asked)).toMatchObject({ id: wait.id, status: 'taken_over' });
    await talk.write('hello?');
    expect((await talk.record()).messages.at(-1)).not.toHaveProperty('wait_id');
    expect(stage.workflow.turns).toHaveLength(2);
  });

  it('offers a person as a choice is the answer', async () => {
    const talk = await begin();
    const execution = n8n.execution();
    const choices = ['Try again', 'Talk to a person'];
    await ask(talk, execution, { accept: { type: 'choice', choices } });
    await talk.write('talk to a person');
    expect(await goesOn(execution)).toMatchObject({ answer: { value: 'Talk to a person' } });
    expect((await talk.record()).status).toBe('ai_active');
  });
});
