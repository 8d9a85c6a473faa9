// A workflow that is the agent asks in the middle of its turn: the turn rests, and goes on.
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
import { askTeam, decide, goesOn, postWait, waitOf, type Json } from './support.ts';

describe("a question in the agent's turn", () => {
  let stage: WorkflowStage;
  let n8n: ExecutionHost;
  let skewMs = 0;

  beforeAll(async () => {
    n8n = await startExecutionHost(() => stage.api);
    stage = await startWorkflowStage({
      ca: n8n.ca,
      env: MEMBER_ENV,
      clock: { now: () => new Date(Date.now() + skewMs) },
    });
  });
  beforeEach(() => stage.workflow.forget());
  afterEach(() => stage.api.patch('/api/agent', { enabled: true }));
  afterAll(async () => {
    await stage?.close();
    await n8n?.close();
  });

  const ask = (turnId: string, execution: RestingExecution, fields: Json): Promise<Json> =>
    askTeam(stage, execution, { turn_id: turnId, ...fields });

  it("is sent in the agent's name, suspends the turn, and the answer begins no turn", async () => {
    const { talk, id: turnId } = await stage.acceptedTurn('Where is my order?');
    const execution = n8n.execution();
    const wait = await ask(turnId, execution, {
      kind: 'reply',
      conversation_id: talk.id,
      message: 'Its number, please?',
    });
    expect(wait).toMatchObject({ turn_id: turnId, conversation_id: talk.id });
    expect(await talk.replies()).toEqual(['Its number, please?']);
    await talk.turnIn('suspended');
    // Far longer than a turn may take.
    skewMs += 3600_000;
    await talk.write('A-1042');
    expect((await goesOn(execution)).answer.value).toBe('A-1042');
    expect(stage.workflow.turns).toHaveLength(1);
    const replied = await stage.operate(turnId, 'replies', { text: 'It is on its way.' });
    expect(replied.status).toBe(201);
    expect(await talk.replies()).toEqual(['Its number, please?', 'It is on its way.']);
    await talk.turnIn('answered');
    // What comes next is a turn again, with the answer in what was said before.
    stage.workflow.answer(says('You are welcome.'));
    await talk.write('Thank you');
    const { body } = await stage.workflow.turn(2);
    expect(body.messages.map(({ text }: Json) => text)).toEqual(['Thank you']);
    expect(body.history.map(({ text }: Json) => text)).toContain('A-1042');
    await talk.turnIn('answered');
  });

  it('to the team lets newer messages have turns of their own beside it', async () => {
    const { talk, id: turnId } = await stage.acceptedTurn('I want my money back');
    const execution = n8n.execution();
    const wait = await ask(turnId, execution, { message: 'Refund?' });
    expect(wait.conversation_id).toBe(talk.id);
    stage.workflow.answer(says('A colleague is looking at it.'));
    await talk.write('Hello?');
    expect(await talk.reply()).toBe('A colleague is looking at it.');
    await decide(stage, wait);
    expect(await goesOn(execution)).toMatchObject({ status: 'approved', turn_id: turnId });
    const { status } = await stage.operate(turnId, 'replies', { text: 'You have it back.' });
    expect(status).toBe(201);
    expect(await talk.replies()).toEqual(['A colleague is looking at it.', 'You have it back.']);
  });

  it('ends with a take-over, after which the workflow says nothing', async () => {
    const { talk, id: turnId } = await stage.acceptedTurn('Help');
    const execution = n8n.execution();
    const fields = { kind: 'reply', conversation_id: talk.id, message: 'With what?' };
    const wait = await ask(turnId, execution, fields);
    await talk.act('takeover');
    expect(await goesOn(execution)).toMatchObject({ id: wait.id, status: 'taken_over' });
    const late = await stage.operate(turnId, 'replies', { text: 'Still me' });
    expect([late.status, late.body.error.code]).toEqual([409, 'turn_superseded']);
    expect(await talk.replies()).toEqual(['With what?']);
  });

  it('is refused when its turn is over', async () => {
    const { talk, id: turnId } = await stage.acceptedTurn('One');
    stage.workflow.answer(answers({}));
    await talk.write('Two');
    await waitFor('the newer turn', async () => (await talk.turns()).length === 2);
    const late = await postWait(stage, n8n.execution(), {
      kind: 'reply',
      conversation_id: talk.id,
      turn_id: turnId,
    });
    expect([late.status, late.body.error.code]).toEqual([409, 'turn_superseded']);
    expect(await talk.replies()).toEqual([]);
  });

  it('that expires lets the turn go on', async () => {
    const { talk, id: turnId } = await stage.acceptedTurn('Are you there?');
    const execution = n8n.execution();
    const wait = await ask(turnId, execution, {
      kind: 'reply',
      conversation_id: talk.id,
      message: 'Yes. Are you?',
      expires_at: new Date(Date.now() + skewMs + 60_000).toISOString(),
    });
    skewMs += 61_000;
    await goesOn(execution);
    expect((await waitOf(stage, wait)).status).toBe('expired');
    const { status } = await stage.operate(turnId, 'close', {
      verdict: 'no_response',
      summary: 'Nobody answered.',
    });
    expect(status).toBe(200);
    expect((await talk.record()).status).toBe('closed');
  });

  it.each([
    ['is answered', (talk: Talk) => talk.write('A-1042')],
    ['expires', () => void (skewMs += 61_000)],
  ])('that %s after the agent was switched off leaves the customer to the team', async (_, end) => {
    const { talk, id: turnId } = await stage.acceptedTurn('Where is my order?');
    const execution = n8n.execution();
    await ask(turnId, execution, {
      kind: 'reply',
      message: 'Its number, please?',
      expires_at: new Date(Date.now() + skewMs + 60_000).toISOString(),
    });
    await stage.api.patch('/api/agent', { enabled: false });
    await end(talk);
    await goesOn(execution);
    const late = await stage.operate(turnId, 'replies', { text: 'It is on its way.' });
    expect([late.status, late.body.error?.code]).toEqual([409, 'turn_superseded']);
    const member = await signedInBrowser(stage.service.url);
    const { html } = await member.get('/conversations?tab=waiting');
    expect(html.includes(talk.id)).toBe(true);
  });
});
