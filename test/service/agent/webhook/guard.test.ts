// What a workflow answers is refused once a person took over or the customer wrote again.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../../service/src/agent/keyword/sentences.ts';
import { MEMBER_ENV, signedInBrowser } from '../../../helpers/browserless.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { held } from '../agentService.ts';
import {
  accepts,
  answers,
  hangs,
  says,
  startWorkflowStage,
  type Talk,
  type WorkflowStage,
} from './workflowStage.ts';

let stage: WorkflowStage;
beforeAll(async () => {
  stage = await startWorkflowStage({ env: MEMBER_ENV });
});
beforeEach(() => stage.workflow.forget());
afterEach(() => expect(stage.workflow.faults).toEqual([]));
afterAll(() => stage?.close());

const textsOf = (turn: { messages: { text: string }[] }) => turn.messages.map(({ text }) => text);

/** Every operation of a turn is refused, and nothing was sent. */
async function expectRefused(talk: Talk, turnId: string, why: RegExp) {
  const bodies = {
    replies: { text: 'Stale.' },
    'hand-over': {},
    close: { verdict: 'unknown', summary: 's' },
    end: {},
  };
  const { status } = await talk.record();
  for (const [operation, body] of Object.entries(bodies)) {
    const answer = await stage.operate(turnId, operation, body);
    expect([operation, answer.status, answer.body.error.code]).toEqual([
      operation,
      409,
      'turn_superseded',
    ]);
    expect(answer.body.error.message).toMatch(why);
  }
  expect(await talk.replies()).not.toContain('Stale.');
  expect((await talk.record()).status).toBe(status);
}

describe('a take-over while a workflow answers', () => {
  it('ends the turn: its HTTP call is aborted, and what it answers is refused', async () => {
    stage.workflow.answer(hangs);
    const talk = await stage.talk('hello');
    const turn = await stage.workflow.turn();
    await talk.act('takeover');
    await turn.closed;
    expect(await talk.turnIn('superseded')).toMatchObject({
      problem: 'A person took over the conversation.',
    });
    await expectRefused(talk, turn.body.turn_id, /person took over/);
  });

  it('and the hand-back gives the workflow a new turn with the same messages', async () => {
    stage.workflow.answer(hangs, says('Back.'));
    const talk = await stage.talk('hello');
    const { body: first } = await stage.workflow.turn();
    await talk.act('takeover');
    await talk.act('handback');
    const { body: second } = await stage.workflow.turn(2);
    expect(second.turn_id).not.toBe(first.turn_id);
    expect(textsOf(second)).toEqual(['hello']);
    expect(await talk.reply()).toBe('Back.');
    await expectRefused(talk, first.turn_id, /wrote again, or control changed|person took over/);
  });
});

describe('a newer message while a workflow answers', () => {
  it('ends the turn; the next one has the unanswered messages too, and is answered once', async () => {
    stage.workflow.answer(accepts, says('For both.'));
    const talk = await stage.talk('first');
    const { body: first } = await stage.workflow.turn();
    await talk.write('second');
    await expectRefused(talk, first.turn_id, /wrote again/);
    const { body: second } = await stage.workflow.turn(2);
    expect(textsOf(second)).toEqual(['first', 'second']);
    expect(second.chatInput).toBe('first\nsecond');
    expect(await talk.reply()).toBe('For both.');
    expect((await talk.turns()).map(({ status }) => status)).toEqual(['superseded', 'answered']);
    expect(await talk.replies()).toHaveLength(1);
  });

  it('ends the HTTP call of the turn, and answers in the next one', async () => {
    stage.workflow.answer(hangs, says('Now.'));
    const talk = await stage.talk('first');
    const first = await stage.workflow.turn();
    await talk.write('second');
    await first.closed;
    expect(await talk.reply()).toBe('Now.');
  });

  it('refuses the rest of a reply that has begun, and asks about the newer message alone', async () => {
    const { talk, id } = await stage.acceptedTurn('first');
    await stage.operate(id, 'replies', { text: 'One.', more_follows: true });
    await talk.write('second');
    await expectRefused(talk, id, /wrote again/);
    const { body: second } = await stage.workflow.turn(2);
    expect(textsOf(second)).toEqual(['second']);
    await stage.operate(second.turn_id, 'end');
  });
});

it('answers a burst of three in one turn', async () => {
  stage.workflow.answer((res, turn) => {
    if (turn.messages.length === 3) says('All three.')(res, turn);
  });
  const talk = await stage.talk('one');
  await talk.write('two');
  await talk.write('three');
  expect(await talk.reply()).toBe('All three.');
  const asked = stage.workflow.turns.map(({ body }) => textsOf(body));
  expect(asked.at(-1)).toEqual(['one', 'two', 'three']);
  expect((await talk.turns()).filter(({ status }) => status === 'answered')).toHaveLength(1);
  expect(await talk.replies()).toEqual(['All three.']);
});

it('does not ask the workflow again about a message whose turn it ended without a reply', async () => {
  stage.workflow.answer(answers({}), says('Yes?'));
  const talk = await stage.talk('thanks');
  await talk.turnIn('answered');
  await talk.write('one more thing');
  const { body } = await stage.workflow.turn(2);
  expect(textsOf(body)).toEqual(['one more thing']);
  expect(body.history.map(({ text }: { text: string }) => text)).toEqual(['thanks']);
  expect(await talk.reply()).toBe('Yes?');
});

it('refuses a turn after the close', async () => {
  const { talk, id } = await stage.acceptedTurn();
  await talk.act('close');
  expect(await talk.turnIn('superseded')).toMatchObject({
    problem: 'The conversation was closed.',
  });
  await expectRefused(talk, id, /was closed/);
});

it('refuses a turn after the customer asked for a person, who gets the conversation at once', async () => {
  const { talk, id } = await stage.acceptedTurn();
  await talk.write('I want to talk to a person');
  expect(await talk.reply()).toBe(SENTENCES.handOverOnRequest.en);
  expect(await talk.record()).toMatchObject({
    status: 'awaiting_human',
    handover: { reason: 'customer_request' },
  });
  await expectRefused(talk, id, /wrote again|waits for a person/);
  expect(stage.workflow.turns).toHaveLength(1);
});

it('refuses what comes late, after the turn has ended', async () => {
  stage.workflow.answer(says('In time.'));
  const talk = await stage.talk('hello');
  const { turn_id: id } = await talk.turnIn('answered');
  await expectRefused(talk, id, /was answered at/);
  stage.workflow.answer(answers({}, 500));
  const failing = await stage.talk('hello');
  const { turn_id: failed } = await failing.turnIn('failed');
  await expectRefused(failing, failed, /failed at .*500/);
});

describe('while the agent is off', () => {
  afterEach(() => stage.api.patch('/api/agent', { enabled: true }));

  it.each([
    ['', async () => {}],
    [
      ', also after a first reply that more was to follow',
      (turn: string) =>
        stage.operate(turn, 'replies', { text: 'One moment, please.', more_follows: true }),
    ],
  ])('a turn is refused, and the customer waits for the team%s', async (_more, reply) => {
    const late = held(says('Late.'));
    stage.workflow.answer(late.reply);
    const talk = await stage.talk('hello');
    const { body } = await stage.workflow.turn();
    await reply(body.turn_id);
    await stage.api.patch('/api/agent', { enabled: false });
    await expectRefused(talk, body.turn_id, /switched off/);
    void late.give();
    const browser = await signedInBrowser(stage.service.url);
    await waitFor('the customer to wait', async () =>
      (await browser.get('/conversations?tab=waiting')).html.includes(talk.id),
    );
  });
});

it('does not end a turn because an automation sends something beside the agent', async () => {
  const { talk, id } = await stage.acceptedTurn();
  const beside = { text: 'Your parcel has shipped.', pause_agent: false };
  await stage.api.post(`/api/conversations/${talk.id}/messages`, beside);
  expect((await stage.operate(id, 'replies', { text: 'Hello.' })).status).toBe(201);
  expect((await talk.replies()).at(-1)).toBe('Hello.');
});
