// What a language model says, and the step that it means.
import { MAX_MESSAGE_CHARACTERS } from '../../../../service/src/conversations/message.ts';
import {
  choice,
  contentFilter,
  emptyChoices,
  raw,
  refusal,
  text,
  toolCalls,
  type ModelReply,
} from '../../../helpers/modelServer.ts';
import { closeModels, failureOf, lookupTool, openModel, turnOf } from './openaiSupport.ts';

afterEach(async () => {
  const faults = await closeModels();
  expect(faults).toEqual([]);
});

const stepFor = async (reply: ModelReply, turn = turnOf()) => {
  const { server, next } = await openModel();
  server.answerWith(reply);
  return next(turn);
};
const reply = (said: string, more: object = {}) => ({ type: 'reply', text: said, ...more });
const toolStep = (...calls: { tool: string; arguments: unknown }[]) => ({
  type: 'tool_calls',
  calls,
});
const handOver = (reason: string, said: string | null = null, more: object = {}) => ({
  type: 'hand_over',
  reason,
  text: said,
  ...more,
});

const LOOKUP = { name: 'lookup_order', arguments: { order: '7' } };
const LOOKUP_CALL = { tool: 'lookup_order', arguments: { order: '7' } };
const HAND_OVER = { name: 'hand-over', arguments: { reason: 'customer_request' } };
const CLOSING = { verdict: 'goal_reached', summary: 'Order 7 has shipped.' };
const closes = (fields: object = {}) => ({
  name: 'close-conversation',
  arguments: { ...CLOSING, ...fields },
});
const QUALIFIED = { name: 'mark-qualified' };

describe('words', () => {
  const SENTENCE = 'This lamp is bright. ';
  const LONGEST = '🎉'.repeat(MAX_MESSAGE_CHARACTERS);
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'It has ' },
    { type: 'text', text: 'shipped.' },
  ];
  const json = JSON.stringify({ choices: [{ message: { content: 'Hello' } }] });

  it.each([
    ['are a reply', text('It has shipped.'), 'It has shipped.'],
    [
      'come without the reasoning that leaked before them',
      text('<think>The customer wants…</think>\n\nIt has shipped.'),
      'It has shipped.',
    ],
    [
      'come without two pieces of reasoning',
      text('\n<thinking>one</thinking><think>two</think>It has shipped.'),
      'It has shipped.',
    ],
    [
      'come without reasoning whose first tag the template swallowed',
      text('So be it.</think>\nIt has shipped.'),
      'It has shipped.',
    ],
    [
      'may speak of a tag in their middle',
      text('Write <think>so</think>, please.'),
      'Write <think>so</think>, please.',
    ],
    [
      'lose NUL and halves of surrogate pairs, and keep whole ones',
      text('a\0b\ud800c\udc00d 🎉'),
      'abcd 🎉',
    ],
    ['lose the mark of the team that a model imitates', text('[sent by the team] Hello'), 'Hello'],
    [
      'lose the mark wherever a model imitates it',
      text('Hello.\n\n[sent by the team] Ben.\n\n[sent by the team]'),
      'Hello.\n\nBen.',
    ],
    ['come in parts from some servers', choice({ message: { content: parts } }), 'It has shipped.'],
    ['come as JSON under another content type from some servers', raw(json, 'text/plain'), 'Hello'],
    [
      'are cut at the end of a sentence when they are longer than a message',
      text(SENTENCE.repeat(400)),
      SENTENCE.repeat(Math.floor(MAX_MESSAGE_CHARACTERS / SENTENCE.length)).trim(),
    ],
    [
      'are cut between characters when there is no word',
      text('🎉'.repeat(5000)),
      `${'🎉'.repeat(MAX_MESSAGE_CHARACTERS - 1)}…`,
    ],
    ['that are as long as a message may be stay whole', text(LONGEST), LONGEST],
    [
      'end at a sentence when the model ran out of tokens',
      text('It has shipped yesterday. It will arr', 'length'),
      'It has shipped yesterday.',
    ],
    [
      'end before an item of a list of which only its number is whole',
      text('We have:\n1. Red shoes with laces\n2. Blue sho', 'length'),
      'We have:\n1. Red shoes with laces',
    ],
    [
      'end at a sentence that is a year on a line of its own',
      text('We opened our first shop in\n2024. The secon', 'length'),
      'We opened our first shop in\n2024.',
    ],
  ])('%s', async (_what, said, expected) => {
    expect(await stepFor(said)).toEqual(reply(expected));
  });

  it('are cut at the end of a word when there is no sentence', async () => {
    const step = await stepFor(text('bright '.repeat(1000)));
    expect(step).toMatchObject({ text: expect.stringMatching(/bright…$/) });
    expect([...(step as { text: string }).text].length).toBeLessThanOrEqual(MAX_MESSAGE_CHARACTERS);
  });
});

describe('tool calls', () => {
  it('are a step, with what was said beside them left out', async () => {
    expect(await stepFor(toolCalls(LOOKUP, 'One moment.'))).toEqual(toolStep(LOOKUP_CALL));
  });

  it('that come together are one step', async () => {
    const other = { order: '8' };
    expect(await stepFor(toolCalls([LOOKUP, { ...LOOKUP, arguments: other }]))).toEqual(
      toolStep(LOOKUP_CALL, { ...LOOKUP_CALL, arguments: other }),
    );
  });

  it('need no id, nor a type, nor arguments', async () => {
    const tool_calls = [
      { function: { name: 'lookup_order' } },
      { id: '', function: { name: 'lookup_order', arguments: '' } },
      { id: '', function: { name: 'lookup_order', arguments: 'null' } },
      { id: '', function: LOOKUP },
    ];
    const empty = { tool: 'lookup_order', arguments: {} };
    expect(await stepFor(choice({ message: { content: null, tool_calls } }))).toEqual(
      toolStep(empty, empty, empty, LOOKUP_CALL),
    );
  });

  it.each(['{"order": 7', 'order=7', '['.repeat(100_000)])(
    'keep arguments that are not JSON as they are (%#)',
    async (given) => {
      expect(await stepFor(toolCalls({ name: 'lookup_order', arguments: given }))).toEqual(
        toolStep({ tool: 'lookup_order', arguments: given }),
      );
    },
  );

  it.each(['{"order":"', ''])(
    'that the token limit cut off keep what there is: %j',
    async (cut) => {
      expect(
        await stepFor(toolCalls({ name: 'lookup_order', arguments: cut }, null, 'length')),
      ).toEqual(toolStep({ tool: 'lookup_order', arguments: cut }));
    },
  );

  it('lose NUL and halves of surrogate pairs in their arguments', async () => {
    const step = await stepFor(
      toolCalls({ name: 'lookup_order', arguments: '{"or\\u0000der":"7\\u0000\\ud800","n":[1]}' }),
    );
    expect(step).toMatchObject({ calls: [{ arguments: { order: '7', n: [1] } }] });
  });

  it('of a tool that does not exist are passed on, for the loop to refuse', async () => {
    expect(await stepFor(toolCalls({ name: 'make_coffee' }))).toMatchObject({
      calls: [{ tool: 'make_coffee' }],
    });
  });

  it('win over a hand-over and a close beside them, and keep the qualification', async () => {
    expect(await stepFor(toolCalls([HAND_OVER, LOOKUP, closes(), QUALIFIED]))).toEqual({
      ...toolStep(LOOKUP_CALL),
      qualify: true,
    });
  });

  it('are an error where the model had to reply', async () => {
    const { server, next, lastFunctionNames } = await openModel();
    server.answerWith(toolCalls(LOOKUP));
    const { message } = await failureOf(next(turnOf({ mayCallTools: false })));
    expect(message).toContain('was to reply');
    expect(lastFunctionNames()).toEqual(['hand-over', 'close-conversation', 'mark-qualified']);
  });
});

describe('hand-over', () => {
  it('gives its reason and what the customer is told', async () => {
    const said = { reason: 'customer_request', message: 'A colleague takes over.' };
    expect(await stepFor(toolCalls({ name: 'hand-over', arguments: said }))).toEqual(
      handOver('customer_request', 'A colleague takes over.'),
    );
  });

  it.each(['I do not know that.', null])(
    'without a message of its own takes what the model says beside it: %s',
    async (said) => {
      const call = { name: 'hand-over', arguments: { reason: 'missing_knowledge' } };
      expect(await stepFor(toolCalls(call, said))).toEqual(handOver('missing_knowledge', said));
    },
  );

  it.each(['{"reason":', '{"reason":"boredom"}', '[]'])(
    'happens with broken arguments too: %s',
    async (given) => {
      expect(await stepFor(toolCalls({ name: 'hand-over', arguments: given }))).toEqual(
        handOver('missing_knowledge'),
      );
    },
  );

  it('comes before a close', async () => {
    expect(await stepFor(toolCalls([closes(), HAND_OVER]))).toMatchObject({
      type: 'hand_over',
      reason: 'customer_request',
    });
  });

  it('may also be called hand_over, unless a live tool has that name', async () => {
    const call = toolCalls({ ...HAND_OVER, name: 'hand_over' });
    expect(await stepFor(call)).toMatchObject({ type: 'hand_over' });
    const turn = turnOf({ tools: [{ ...lookupTool, name: 'hand_over' }] });
    expect(await stepFor(call, turn)).toMatchObject({
      type: 'tool_calls',
      calls: [{ tool: 'hand_over' }],
    });
  });
});

describe('close-conversation', () => {
  it('replies with its message and closes', async () => {
    expect(await stepFor(toolCalls(closes({ message: 'Bye!' }), 'ignored'))).toEqual(
      reply('Bye!', { close: CLOSING }),
    );
  });

  it("replies with the model's words when it has no message", async () => {
    expect(await stepFor(toolCalls(closes(), 'See you.'))).toEqual(
      reply('See you.', { close: CLOSING }),
    );
  });

  it.each([
    ['en', 'Thank you for your message. Goodbye!'],
    ['es', 'Gracias por su mensaje. ¡Hasta luego!'],
    ['pt', 'Obrigado pela sua mensagem. Até logo!'],
  ] as const)(
    'says good-bye in the language of the turn (%s) when the model says nothing',
    async (language, goodbye) => {
      expect(await stepFor(toolCalls(closes()), turnOf({ language }))).toEqual(
        reply(goodbye, { close: CLOSING }),
      );
    },
  );

  it('closes as unknown when the verdict is not one of ours, and takes the message as the summary when there is none', async () => {
    const given = { verdict: 'great', message: 'Bye!' };
    expect(await stepFor(toolCalls({ name: 'close-conversation', arguments: given }))).toEqual(
      reply('Bye!', { close: { verdict: 'unknown', summary: 'Bye!' } }),
    );
  });

  it('cuts a summary to what a conversation can hold', async () => {
    const step = await stepFor(toolCalls(closes({ summary: 'x'.repeat(5000) })));
    expect(step).toMatchObject({ close: { summary: `${'x'.repeat(3999)}…` } });
  });

  it('closes nothing with broken arguments', async () => {
    const broken = { name: 'close-conversation', arguments: '{"verdict":"goal_rea' };
    expect(await stepFor(toolCalls(broken, 'See you.'))).toEqual(reply('See you.'));
    const { server, next } = await openModel();
    server.answerWith(toolCalls(broken));
    expect((await failureOf(next())).message).toContain('close the conversation');
  });
});

describe('mark-qualified', () => {
  it('goes with the reply', async () => {
    expect(await stepFor(toolCalls(QUALIFIED, 'Great!'))).toEqual(
      reply('Great!', { qualify: true }),
    );
  });

  it('goes with a close', async () => {
    expect(await stepFor(toolCalls([QUALIFIED, closes({ message: 'Bye!' })]))).toEqual(
      reply('Bye!', { qualify: true, close: CLOSING }),
    );
  });

  it('goes with a hand-over', async () => {
    expect(await stepFor(toolCalls([QUALIFIED, HAND_OVER]))).toEqual(
      handOver('customer_request', null, { qualify: true }),
    );
  });

  it('alone is confirmed to the model, which is then asked for its reply', async () => {
    const { server, next, lastMessages } = await openModel();
    server.answerWith(toolCalls([QUALIFIED, QUALIFIED]), text('Great, when may we call?'));
    expect(await next()).toEqual(reply('Great, when may we call?', { qualify: true }));
    expect(lastMessages()).toMatchObject([
      { role: 'user', content: 'Where is order 7?' },
      {
        role: 'assistant',
        tool_calls: [{ function: { name: 'mark-qualified', arguments: '{}' } }],
      },
      { role: 'tool', content: expect.stringContaining('done') },
    ]);
  });

  it('alone may be followed by tool calls or a hand-over', async () => {
    const { server, next } = await openModel();
    server.answerWith(toolCalls(QUALIFIED), toolCalls(LOOKUP));
    expect(await next()).toMatchObject({ type: 'tool_calls', qualify: true });
    server.answerWith(toolCalls(QUALIFIED), toolCalls(HAND_OVER));
    expect(await next()).toEqual(handOver('customer_request', null, { qualify: true }));
  });

  it('alone for a second time is an empty answer, and there is no third request', async () => {
    const { server, next } = await openModel();
    server.answerBy(() => toolCalls(QUALIFIED));
    expect((await failureOf(next())).message).toBe('The model gave an empty answer.');
    expect(server.requests).toHaveLength(2);
  });
});

describe('an answer that says nothing is an error:', () => {
  const EMPTY = 'The model gave an empty answer.';
  const NO_CHOICE = 'The model answered without any choice.';
  const NOT_JSON =
    'The model answered with something that is not JSON: check LLM_BASE_URL (it usually ends in /v1).';
  const OTHER_JSON = expect.stringContaining('not a chat completion');

  it.each([
    ['content null', choice({ message: { content: null } }), EMPTY],
    ['no content at all', choice({ message: {} }), EMPTY],
    ['empty content', text('  \n'), EMPTY],
    ['the mark of a team member alone', text('[sent by the team]'), EMPTY],
    ['an empty list of calls', choice({ message: { content: '', tool_calls: [] } }), EMPTY],
    ['reasoning alone', text('<think>still thinking', 'length'), EMPTY],
    ['a refusal', refusal(), 'The model refused to answer.'],
    ['a content filter', contentFilter(), "The model's content filter withheld the answer."],
    ['no choices', emptyChoices(), NO_CHOICE],
    ['an error as success', raw('{"error":{"message":"overloaded"}}'), NO_CHOICE],
    ['invalid JSON', raw('{"choices":[{"mess'), NOT_JSON],
    ['a page', raw('<!doctype html><title>Welcome</title>', 'text/html'), NOT_JSON],
    ['an empty body', raw(''), NOT_JSON],
    ['JSON null', raw('null'), OTHER_JSON],
    ['another form of message', raw('{"choices":[{"message":"hi"}]}'), OTHER_JSON],
  ])('%s', async (_what, answer, message) => {
    const { server, next } = await openModel();
    server.answerWith(answer);
    expect((await failureOf(next())).message).toEqual(message);
    expect(server.requests).toHaveLength(1);
  });
});
