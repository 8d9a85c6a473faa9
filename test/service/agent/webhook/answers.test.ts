// What a workflow answers, and what the customer gets.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../../service/src/agent/keyword/sentences.ts';
import { readMetrics } from '../../../helpers/metrics.ts';
import {
  answers,
  hangs,
  says,
  startWorkflowStage,
  type Workflow,
  type WorkflowStage,
} from './workflowStage.ts';

const FAILED = SENTENCES.handOverAfterError.en;

let stage: WorkflowStage;
beforeAll(async () => {
  stage = await startWorkflowStage();
});
beforeEach(() => stage.workflow.forget());
afterEach(() => expect(stage.workflow.faults).toEqual([]));
afterAll(() => stage?.close());

describe('an answer to the HTTP call', () => {
  it('is sent to the customer, and the turn says so', async () => {
    stage.workflow.answer(says('Hello from the workflow.'));
    const talk = await stage.talk('hello');
    expect(await talk.reply()).toBe('Hello from the workflow.');
    expect(await talk.turnIn('answered')).toMatchObject({
      outcome: 'reply',
      problem: null,
      attempts: 1,
      messages_sent: 1,
      is_test: false,
      is_resumed: false,
      deadline: null,
      ended_at: expect.any(String),
    });
    const { status, messages } = await talk.record();
    expect(status).toBe('ai_active');
    expect(messages.at(-1).sender.type).toBe('agent');
  });

  it.each<[string, unknown, string[]]>([
    ['a text', { reply: 'One.' }, ['One.']],
    ['several texts', { reply: ['One.', 'Two.'] }, ['One.', 'Two.']],
    ['the items of an AI Agent', [{ output: 'One.' }, { output: 'Two.' }], ['One.', 'Two.']],
    ['items with reply or text', [{ reply: 'One.' }, { text: 'Two.' }], ['One.', 'Two.']],
    ['a structured output', [{ output: { reply: 'One.', hand_over: null } }], ['One.']],
    ['one item alone', { output: 'One.' }, ['One.']],
    ['a text beside empty fields', { reply: 'One.', hand_over: '', close: ' ' }, ['One.']],
    ['a number', [{ output: 42 }], ['42']],
  ])('may be %s', async (_name, body, texts) => {
    stage.workflow.answer(answers(body));
    const talk = await stage.talk('hello');
    await talk.turnIn('answered');
    expect(await talk.replies()).toEqual(texts);
  });

  it.each<[string, Workflow]>([
    ['{}', answers({})],
    ['[]', answers([])],
    ['an empty item', answers([{}])],
    ['an empty list of texts', answers({ reply: [] })],
    ['an empty structured output', answers([{ output: {} }])],
    ['204', (res) => void res.writeHead(204).end()],
  ])(
    'says nothing with %s: nothing is sent, and the agent keeps control',
    async (_name, silent) => {
      stage.workflow.answer(silent);
      const talk = await stage.talk('hello');
      expect(await talk.turnIn('answered')).toMatchObject({ outcome: 'nothing', messages_sent: 0 });
      expect(await talk.replies()).toEqual([]);
      expect((await talk.record()).status).toBe('ai_active');
    },
  );

  it('hands over, with its own words before it', async () => {
    stage.workflow.answer(
      answers({
        reply: 'A colleague will look.',
        hand_over: { reason: 'tool_failure', note: 'No stock.' },
      }),
    );
    const talk = await stage.talk('hello');
    expect(await talk.turnIn('answered')).toMatchObject({ outcome: 'hand_over' });
    expect(await talk.replies()).toEqual(['A colleague will look.']);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'tool_failure', note: 'No stock.', triggered_by: { type: 'agent' } },
    });
  });

  it.each([{}, { hand_over: true }])('hands over beside a structured output %j', async (fields) => {
    const output = { reply: 'One moment.', ...fields };
    stage.workflow.answer(answers([{ output, hand_over: true }]));
    const talk = await stage.talk('hello');
    expect(await talk.turnIn('answered')).toMatchObject({ outcome: 'hand_over' });
    expect(await talk.replies()).toEqual(['One moment.']);
  });

  it('hands over in a sentence of the service when it says nothing; words as the reason are a note', async () => {
    stage.workflow.answer(answers([{ hand_over: { reason: 'wants a contract' } }]));
    const talk = await stage.talk('hello');
    expect(await talk.reply()).toBe(SENTENCES.handOverByWorkflow.en);
    expect((await talk.record()).handover).toMatchObject({
      reason: 'missing_knowledge',
      note: 'wants a contract',
    });
  });

  it('hands over for a reason without an object around it', async () => {
    stage.workflow.answer(answers([{ hand_over: 'customer_request' }]));
    const talk = await stage.talk('hello');
    expect(await talk.reply()).toBe(SENTENCES.handOverOnRequest.en);
    expect((await talk.record()).handover).toMatchObject({
      reason: 'customer_request',
      note: null,
    });
  });

  it('closes, after its last message', async () => {
    stage.workflow.answer(
      answers({ reply: 'Bye.', close: { summary: 'Booked.', verdict: 'goal_reached' } }),
    );
    const talk = await stage.talk('hello');
    expect(await talk.turnIn('answered')).toMatchObject({ outcome: 'close' });
    expect(await talk.replies()).toEqual(['Bye.']);
    expect(await talk.record()).toMatchObject({
      status: 'closed',
      outcome: { verdict: 'goal_reached', summary: 'Booked.', closed_by: { type: 'agent' } },
    });
  });
});

describe('an answer that cannot be used', () => {
  const raw =
    (body: string, type = 'application/json', status = 200): Workflow =>
    (res) =>
      void res.writeHead(status, { 'content-type': type }).end(body);

  it.each<[string, Workflow, RegExp]>([
    [
      'no field that it could have',
      answers({ message: 'Workflow was started' }),
      /without `output`/,
    ],
    ['the item that it was given', (res, turn) => answers([turn])(res, turn), /without `output`/],
    ['an empty body', raw('', 'text/html'), /empty body/],
    ['a page', raw('<html></html>', 'text/html'), /Content-Type "text\/html"/],
    ['broken JSON', raw('{"reply":'), /not valid JSON/],
    [
      'bytes that are not UTF-8',
      (res) =>
        void res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(Buffer.from([0x22, 0xff, 0x22])),
      /not UTF-8/,
    ],
    ['a plain value', answers('hello'), /neither an object nor a list/],
    ['a message that is no text', answers({ reply: { a: 1 } }), /not a text/],
    ['an empty text', answers([{ output: ' ' }]), /empty text/],
    ['eleven messages', answers({ reply: Array(11).fill('x') }), /11 messages/],
    ['a close without a verdict', answers({ close: { summary: 'x' } }), /verdict/],
    [
      'two ends',
      answers([{ hand_over: true }, { close: { summary: 'x', verdict: 'unknown' } }]),
      /more than once/,
    ],
    [
      '500',
      answers({ message: 'Error in workflow' }, 500),
      /answered 500: Error in workflow\. n8n shows why/,
    ],
    ['400', answers({}, 400), /answered 400/],
    [
      'a redirect',
      (res) => void res.writeHead(302, { location: 'https://example.com/' }).end(),
      /302; redirects are not followed/,
    ],
    ['too large an answer', answers({ reply: 'x'.repeat(300 * 1024) }), /more than 262144 bytes/],
    ['a connection that breaks off', (res) => void res.destroy(), /closed the connection|reset/],
  ])('%s: the fixed sentence, a person, and why', async (_name, workflow, why) => {
    stage.workflow.answer(workflow);
    const talk = await stage.talk('hello');
    expect(await talk.turnIn('failed')).toMatchObject({
      attempts: 1,
      messages_sent: 0,
      problem: expect.stringMatching(why),
    });
    expect(await talk.replies()).toEqual([FAILED]);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'agent_error', note: expect.stringMatching(why) },
    });
    expect(stage.workflow.turns).toHaveLength(1);
  });

  it('does not reveal the secret that it repeats', async () => {
    const { secret } = stage.workflow;
    stage.workflow.answer(answers({ key: secret }, 500), says(`the key is ${secret}`));
    const failed = await stage.talk('hello');
    const { problem } = await failed.turnIn('failed');
    expect(problem).toContain('[secret]');
    const talk = await stage.talk('hello');
    expect(await talk.reply()).toBe('the key is [secret]');
  });
});

describe('an answer by the API, after 202', () => {
  it('sends a reply and ends the turn', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const { status, body } = await stage.operate(id, 'replies', { text: 'By the API.' });
    expect([status, body.turn.status, body.turn.outcome]).toEqual([201, 'answered', 'reply']);
    expect(body.messages).toMatchObject([{ text: 'By the API.', sender: { type: 'agent' } }]);
    expect(body.conversation).toMatchObject({ id: talk.id, status: 'ai_active' });
    expect(await talk.replies()).toEqual(['By the API.']);
  });

  it('sends several replies while more follow, and ends with the last', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const first = await stage.operate(id, 'replies', { text: 'One moment.', more_follows: true });
    expect(first.body.turn).toMatchObject({ status: 'running', outcome: null, messages_sent: 1 });
    const last = await stage.operate(id, 'replies', { texts: ['Two.', 'Three.'] });
    expect(last.body.turn).toMatchObject({ status: 'answered', messages_sent: 3 });
    expect(await talk.replies()).toEqual(['One moment.', 'Two.', 'Three.']);
  });

  it('hands over with a note; after a message of its own the service adds no sentence', async () => {
    const { talk, id } = await stage.acceptedTurn();
    await stage.operate(id, 'replies', { text: 'I pass you on.', more_follows: true });
    const { body } = await stage.operate(id, 'hand-over', {
      reason: 'customer_request',
      note: 'VIP',
    });
    expect(body.turn).toMatchObject({ status: 'answered', outcome: 'hand_over' });
    expect(await talk.replies()).toEqual(['I pass you on.']);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'customer_request', note: 'VIP' },
    });
  });

  it('closes with a last message', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const closing = { verdict: 'goal_reached', summary: 'Done.', text: 'Bye.' };
    const { body } = await stage.operate(id, 'close', closing);
    expect(body.turn).toMatchObject({ status: 'answered', outcome: 'close' });
    expect(body.conversation.status).toBe('closed');
    expect(await talk.replies()).toEqual(['Bye.']);
  });

  it('ends without a word', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const { body } = await stage.operate(id, 'end');
    expect(body).toMatchObject({ turn: { outcome: 'nothing' }, messages: [] });
    expect(await talk.replies()).toEqual([]);
  });

  it('counts once for one Idempotency-Key', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const send = () =>
      stage.api.post(
        `/api/agent-turns/${id}/replies`,
        { text: 'Once.' },
        { 'idempotency-key': id },
      );
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(await talk.replies()).toEqual(['Once.']);
  });

  const answerAfterReply = async (answer: Workflow) => {
    stage.workflow.forget();
    let finish = () => {};
    stage.workflow.answer((res, turn) => void (finish = () => answer(res, turn)));
    const talk = await stage.talk('hello');
    const { body: turn, closed } = await stage.workflow.turn();
    await stage.operate(turn.turn_id, 'replies', { text: 'By the API.', more_follows: true });
    finish();
    await closed;
    return talk;
  };

  it.each([
    ['an answer', says('Too late.')],
    ['nonsense', answers({ nothing: 'known' })],
  ])('may come while the HTTP call hangs; %s then only ends the turn', async (_, answer) => {
    const talk = await answerAfterReply(answer);
    expect(await talk.turnIn('answered')).toMatchObject({ outcome: 'reply', messages_sent: 1 });
    expect(await talk.replies()).toEqual(['By the API.']);
  });

  it('fails when the HTTP call fails after a reply', async () => {
    const talk = await answerAfterReply(answers({}, 503));
    expect(await talk.turnIn('failed')).toMatchObject({ attempts: 1, messages_sent: 1 });
    expect((await talk.record()).status).toBe('awaiting_human');
  });

  it('refuses what it cannot read, and a turn that does not exist', async () => {
    const { id } = await stage.acceptedTurn();
    for (const body of [{}, { text: 'a', texts: ['b'] }, { texts: [] }, { text: ' ' }])
      expect((await stage.operate(id, 'replies', body)).body.error.code).toBe('invalid_request');
    expect((await stage.operate(id, 'close', { verdict: 'unknown' })).status).toBe(400);
    expect((await stage.operate('turn_01JD6Z0000000000000000000A', 'end')).status).toBe(404);
    await stage.operate(id, 'end');
  });
});

it('the turns of a workflow are in a list, and in /metrics', async () => {
  stage.workflow.answer(says('Hi.'));
  const talk = await stage.talk('hello');
  const turn = await talk.turnIn('answered');
  expect((await stage.api.get(`/api/agent-turns/${turn.turn_id}`)).body).toEqual(turn);
  const { data } = (await stage.api.get('/api/agent-turns?limit=1')).body;
  expect(data).toEqual([turn]);
  stage.workflow.answer(hangs);
  const running = await stage.talk('hello');
  await running.turnIn('running');
  const { value } = await readMetrics(stage.service.url);
  expect(value('conversation_service_agent_turns_total', { outcome: 'failed' })).toBeGreaterThan(0);
  expect(value('conversation_service_agent_turns_open', { status: 'running' })).toBe(1);
  await running.act('close');
});
