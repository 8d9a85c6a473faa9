// How a customer is asked again and reminded, and what the agent and workflows see of it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
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
  type Json,
  type Talk,
  type WaitStage,
} from './support.ts';

describe('a question that accepts one kind of answer', () => {
  let stage: WaitStage;
  let events: EventReceiver;

  beforeAll(async () => {
    events = await startEventReceiver();
    stage = await startWaitStage({ env: { AGENT_QUIET_MS: '50' } });
    for (const event of ['message.received', 'message.sent']) await events.subscribe(stage, event);
  });
  afterAll(async () => {
    // The clock of these tests is not the receiver's.
    expect(events.faults.filter((fault) => !fault.startsWith('t is too far'))).toEqual([]);
    await stage?.close();
    await events?.close();
  });

  const textsReach = ({ customer }: Talk, count: number): Promise<string[]> =>
    waitFor(`${count} texts`, async () => {
      const texts = await textsTo(customer);
      return texts.length >= count ? texts : null;
    });

  it('is asked again with its own sentence, and then answered', async () => {
    const { talk, execution, wait } = await askNewCustomer(stage, {
      message: 'What is your e-mail?',
      accept: { type: 'email' },
      retry_message: 'I need an address with an @.',
    });
    await talk.customer.write('why?');
    expect(await textsReach(talk, 2)).toEqual([
      'What is your e-mail?',
      'I need an address with an @.',
    ]);
    expect(await waitOf(stage, wait)).toMatchObject({ status: 'open' });
    await talk.customer.write('ok: Maria@Example.com');
    const { answer } = await goesOn(execution);
    expect(answer).toMatchObject({ value: 'maria@example.com', text: 'ok: Maria@Example.com' });
  });

  it('is asked again after a hesitation, which is a number in another language only', async () => {
    const number = { type: 'number' };
    const english = { message: 'How many rooms do you need?', accept: number };
    const { talk, execution } = await askNewCustomer(stage, english);
    await talk.customer.write('um…');
    await textsReach(talk, 2);
    await talk.customer.write('three');
    expect((await goesOn(execution)).answer.value).toBe(3);
    const portuguese = { message: 'De quantos quartos você precisa?', accept: number };
    const other = await askNewCustomer(stage, portuguese);
    await other.talk.customer.write('um');
    expect((await goesOn(other.execution)).answer.value).toBe(1);
  });

  it('ends after max_attempts answers, with the last one', async () => {
    const fields = { message: 'How many?', accept: { type: 'number' }, max_attempts: 2 };
    const { talk, execution } = await askNewCustomer(stage, fields);
    await talk.customer.write('some');
    await textsReach(talk, 2);
    await talk.customer.write('a few');
    expect(await goesOn(execution)).toMatchObject({
      status: 'not_accepted',
      answer: { text: 'a few', value: null },
    });
    expect(await textsTo(talk.customer)).toEqual(['How many?', 'How many?']);
  });

  it('offers its choices with the question each time', async () => {
    const choices = ['Tuesday', 'Thursday'];
    const accept = { type: 'choice', choices };
    const { talk, execution } = await askNewCustomer(stage, { accept });
    await talk.customer.write('Sunday');
    await textsReach(talk, 2);
    const asked = (await talk.customer.read()).filter(({ from }: Json) => from !== 'customer');
    expect(asked.map((message: Json) => message.choices)).toEqual([choices, choices]);
    await talk.customer.write('THURSDAY!');
    expect((await goesOn(execution)).answer.value).toBe('Thursday');
  });

  it('is asked again when a number means one choice by its place and another by its name', async () => {
    const accept = { type: 'choice', choices: ['Room 2', 'Room 1'] };
    const { talk, execution } = await askNewCustomer(stage, { message: 'Which room?', accept });
    await talk.customer.write('2');
    expect(await textsReach(talk, 2)).toEqual(['Which room?', 'Which room?']);
    await talk.customer.write('room 2');
    expect((await goesOn(execution)).answer.value).toBe('Room 2');
  });

  it('takes a number as the place of a choice, though prices begin with that number', async () => {
    const accept = { type: 'choice', choices: ['Pro, $2,500', 'Basic, $1,000'] };
    const { talk, execution } = await askNewCustomer(stage, { accept, max_attempts: 1 });
    await talk.customer.write('2');
    expect((await goesOn(execution)).answer.value).toBe('Basic, $1,000');
  });

  it('takes a number as the choice that begins with it in words', async () => {
    const accept = { type: 'choice', choices: ['Two people', 'Three people', 'Four people'] };
    const { talk, execution } = await askNewCustomer(stage, { accept });
    await talk.customer.write('2');
    expect((await goesOn(execution)).answer.value).toBe('Two people');
  });

  it.each([
    ['A+', 'A-'],
    ['< 100 EUR', '> 100 EUR'],
    ['C', 'C++'],
  ])('takes either of the buttons %j and %j', async (...choices) => {
    for (const choice of choices) {
      const accept = { type: 'choice', choices };
      const { talk, execution } = await askNewCustomer(stage, { accept });
      await talk.customer.write(choice);
      expect((await goesOn(execution)).answer.value).toBe(choice);
    }
  });

  it.each(['\u200B', '\u00AD \u00AD', '\u0301', '\uFE0F'])(
    'cannot offer a choice that nobody sees: %j',
    async (unseen) => {
      const { status, body } = await postWait(stage, stage.n8n.execution(), {
        kind: 'reply',
        conversation_id: (await startTalk(stage)).conversationId,
        accept: { type: 'choice', choices: ['Yes', unseen] },
      });
      expect([status, body.error?.param]).toEqual([400, 'accept.choices.1']);
      expect(body.error.message).toContain('must have a character that can be seen');
    },
  );

  it('cannot have its reminder after its end', async () => {
    const { status, body } = await postWait(stage, stage.n8n.execution(), {
      kind: 'reply',
      conversation_id: (await startTalk(stage)).conversationId,
      remind_after: 7200,
      expires_at: new Date(stage.now() + 7_200_000).toISOString(),
    });
    expect([status, body.error.param]).toEqual([400, 'remind_after']);
    expect(body.error.message).toBe(
      'remind_after must be before expires_at, or the customer is never reminded.',
    );
  });

  it('reminds once, when the customer is silent for as long as remind_after says', async () => {
    const { talk, execution, wait } = await askNewCustomer(stage, {
      remind_after: 600,
      remind_message: 'Are you still there?',
    });
    stage.pass(599_000);
    await waitOf(stage, wait);
    expect(await textsTo(talk.customer)).toHaveLength(1);
    stage.pass(2000);
    expect(await textsReach(talk, 2)).toContain('Are you still there?');
    stage.pass(6_000_000);
    await talk.customer.write('yes');
    await goesOn(execution);
    expect(await textsTo(talk.customer)).toHaveLength(2);
  });

  it('reminds with the question itself, and later when an answer came that was not accepted', async () => {
    const fields = { message: 'Which day?', accept: { type: 'date' }, remind_after: 600 };
    const { talk } = await askNewCustomer(stage, fields);
    stage.pass(500_000);
    await talk.customer.write('hm');
    await textsReach(talk, 2);
    stage.pass(500_000);
    await talk.customer.read();
    expect(await textsTo(talk.customer)).toHaveLength(2);
    stage.pass(101_000);
    expect(await textsReach(talk, 3)).toEqual(['Which day?', 'Which day?', 'Which day?']);
  });

  it('and its answer carry the wait in their events, and filters tell both from other messages', async () => {
    const filters = {
      '/without-automations': { senders: ['customer', 'agent', 'team_member'] },
      '/messages': { received_as: ['message'] },
      '/answers': { received_as: ['answer'] },
    };
    for (const [path, filter] of Object.entries(filters))
      expect(
        await stage.api.post('/api/hooks', {
          events: [path === '/without-automations' ? 'message.sent' : 'message.received'],
          target_url: events.url + path,
          filter,
        }),
      ).toMatchObject({ status: 201, body: { filter } });
    const { talk, execution, wait } = await askNewCustomer(stage, { message: 'Q?' });
    await talk.customer.write('A!');
    await goesOn(execution);
    const ofTalk = () =>
      events
        .payloads()
        .filter(({ conversation }: Json) => conversation.id === talk.conversationId)
        .map(({ message }: Json) => [message.text, message.wait_id]);
    await waitFor('five events', () => ofTalk().length === 5);
    expect(new Map(ofTalk() as [string, string][])).toEqual(
      new Map([
        ['Hello', undefined],
        ['Q?', wait.id],
        ['A!', wait.id],
      ]),
    );
    await stage.api.post(`/api/conversations/${talk.conversationId}/handback`);
    const textsAt = (path: keyof typeof filters) =>
      events.requests
        .filter((request) => request.path === path)
        .map(({ rawBody }) => (JSON.parse(rawBody.toString()) as Json).message.text);
    expect(textsAt('/without-automations')).toEqual([]);
    expect(textsAt('/messages')).toEqual(['Hello']);
    expect(textsAt('/answers')).toEqual(['A!']);
  });

  it('leaves the answer out of what the agent answers', async () => {
    await stage.api.patch('/api/agent', { enabled: true });
    const talk = await startTalk(stage);
    await textsReach(talk, 1);
    const execution = stage.n8n.execution();
    await askCustomer(stage, talk, execution, { message: 'Your order number?' });
    await talk.customer.write('A-1042');
    expect(await goesOn(execution)).toMatchObject({ status: 'answered' });
    // What comes after the answer is for the agent again, which has answered nothing before.
    await talk.customer.write('I want to speak to a person');
    const [, question, ...others] = await textsReach(talk, 3);
    expect(question).toBe('Your order number?');
    expect(others).toEqual([expect.stringContaining('I am passing you to a person')]);
    await stage.api.patch('/api/agent', { enabled: false });
  });
});
