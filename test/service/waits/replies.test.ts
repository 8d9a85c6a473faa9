// A workflow asks a customer and goes on with the answer.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  askCustomer,
  askNewCustomer,
  goesOn,
  postWait,
  startTalk,
  startWaitStage,
  textsTo,
  waitOf,
  type WaitStage,
} from './support.ts';

describe('a question to a customer', () => {
  let stage: WaitStage;

  beforeAll(async () => {
    stage = await startWaitStage({ env: { AGENT_QUIET_MS: '60000' } });
  });
  afterAll(() => stage?.close());

  it('is sent, and the execution goes on with all that the customer writes until they are quiet', async () => {
    const { talk, execution, wait } = await askNewCustomer(stage);
    expect(wait).toMatchObject({ kind: 'reply', status: 'open', resume: { state: 'none' } });
    expect(await textsTo(talk.customer)).toEqual(['What is your order number?']);
    stage.pass(5000);
    await talk.customer.write('It is');
    stage.pass(50_000);
    await talk.customer.write('A-1042');
    stage.pass(50_000);
    expect(await waitOf(stage, wait)).toMatchObject({ status: 'open' });
    stage.pass(11_000);
    const collected = await goesOn(execution);
    expect(collected).toMatchObject({
      id: wait.id,
      status: 'answered',
      answer: { text: 'It is\nA-1042', value: 'It is\nA-1042' },
      resume: { state: 'done' },
    });
    expect(collected.answer.messages).toHaveLength(2);
    // Real time passes too, on top of the test's own steps.
    expect(collected.answer.seconds_waited).toBeGreaterThanOrEqual(55);
    expect(collected.answer.seconds_waited).toBeLessThan(70);
    await waitFor('the attempt on record', async () => {
      const { resume } = await waitOf(stage, wait);
      return resume.attempts.length === 1 && resume.attempts[0].problem === null;
    });
    expect(execution.calls).toEqual([wait.id]);
  });

  it('is answered by the last of several messages that are answers by themselves', async () => {
    const accept = { type: 'choice', choices: ['Tuesday', 'Thursday'] };
    const { talk, execution } = await askNewCustomer(stage, { message: 'Which day?', accept });
    await talk.customer.write('Tuesday');
    await talk.customer.write('2');
    stage.pass(61_000);
    expect((await goesOn(execution)).answer).toMatchObject({
      text: 'Tuesday\n2',
      value: 'Thursday',
    });
  });

  it('is answered by a choice whose number follows, though the number alone may mean two', async () => {
    const accept = { type: 'choice', choices: ['Room 2', 'Room 1'] };
    const { talk, execution } = await askNewCustomer(stage, { message: 'Which room?', accept });
    await talk.customer.write('Room 2');
    await talk.customer.write('2');
    stage.pass(61_000);
    expect((await goesOn(execution)).answer.value).toBe('Room 2');
  });

  it('is not answered by a request to wait for a second', async () => {
    const accept = { type: 'choice', choices: ['Tuesday', 'Thursday'] };
    const { talk, execution } = await askNewCustomer(stage, { message: 'Which day?', accept });
    await talk.customer.write('Tuesday');
    await talk.customer.write('One second');
    stage.pass(61_000);
    expect((await goesOn(execution)).answer.value).toBe('Tuesday');
  });

  it('is asked once, however often the request is repeated', async () => {
    const talk = await startTalk(stage);
    const fields = {
      kind: 'reply',
      conversation_id: talk.conversationId,
      message: 'Your name?',
      resume_url: stage.n8n.execution().url,
    };
    const key = { 'idempotency-key': talk.conversationId };
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => stage.api.post('/api/waits', fields, key)),
    );
    expect(opened.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(opened.map(({ body }) => body.id as string)).size).toBe(1);
    expect(await textsTo(talk.customer)).toEqual(['Your name?']);
  });

  it('is the only one that is open in a conversation: a second one is refused', async () => {
    const { talk, wait } = await askNewCustomer(stage);
    const fields = { kind: 'reply', conversation_id: talk.conversationId };
    const second = await postWait(stage, stage.n8n.execution(), fields);
    expect(second.status).toBe(409);
    expect(second.body.error).toMatchObject({ code: 'wait_exists', existing_id: wait.id });
    expect(second.body.error.message).toContain(`POST /api/waits/{id}/cancel`);
    expect(await textsTo(talk.customer)).toHaveLength(1);
  });

  it('takes the place of an earlier one with the same address', async () => {
    const { talk, execution, wait: earlier } = await askNewCustomer(stage);
    await askCustomer(stage, talk, execution, { message: 'And your name?' });
    expect(await waitOf(stage, earlier)).toMatchObject({
      status: 'cancelled',
      cancelled_by: null,
      resume: { state: 'none' },
    });
    await talk.customer.write('Kenji');
    stage.pass(61_000);
    expect(await goesOn(execution)).toMatchObject({ answer: { value: 'Kenji' } });
  });
});
