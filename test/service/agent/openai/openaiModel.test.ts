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
} from '../../../helpers/modelServer.ts';
import { closeModels, failureOf, lookupTool, openModel, turnOf } from './openaiSupport.ts';

afterEach(async () => expect(await closeModels()).toEqual([]));

const stepFor = async (
  reply: Parameters<Awaited<ReturnType<typeof openModel>>['server']['answerWith']>[0],
  turn = turnOf(),
) => {
  const { server, next } = await openModel();
  server.answerWith(reply);
  return next(turn);
};

describe('words', () => {
  it('are a reply', async () => {
    expect(await stepFor(text('It has shipped.'))).toEqual({
      type: 'reply',
      text: 'It has shipped.',
    });
  });

  it.each([
    ['<think>The customer wants…</think>\n\nIt has shipped.'],
    ['\n<thinking>one</thinking><think>two</think>It has shipped.'],
    ['The template swallowed the first tag.</think>\nIt has shipped.'],
  ])('come without the reasoning that leaked before them: %j', async (content) => {
    expect(await stepFor(text(content))).toEqual({ type: 'reply', text: 'It has shipped.' });
  });

  it('may speak of a tag in their middle', async () => {
    expect(await stepFor(text('Write <think>so</think>, please.'))).toEqual({
      type: 'reply',
      text: 'Write <think>so</think>, please.',
    });
  });

  it('lose NUL and halves of surrogate pairs, and keep whole ones', async () => {
    expect(await stepFor(text('a\0b\ud800c\udc00d 🎉'))).toEqual({
      type: 'reply',
      text: 'abcd 🎉',
    });
  });

  it('lose the mark of the team that a model imitates', async () => {
    expect(await stepFor(text('[sent by the team] Hello'))).toEqual({
      type: 'reply',
      text: 'Hello',
    });
  });

  it('come in parts from some servers', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'It has ' },
      { type: 'text', text: 'shipped.' },
    ];
    expect(await stepFor(choice({ message: { content } }))).toEqual({
      type: 'reply',
      text: 'It has shipped.',
    });
  });

  it('come as JSON under another content type from some servers', async () => {
    const body = JSON.stringify({ choices: [{ message: { content: 'Hello' } }] });
    expect(await stepFor(raw(body, 'text/plain'))).toEqual({ type: 'reply', text: 'Hello' });
  });

  it('are cut at the end of a sentence when they are longer than a message', async () => {
    const sentence = 'This lamp is bright. ';
    const step = await stepFor(text(sentence.repeat(400)));
    expect(step).toEqual({
      type: 'reply',
      text: sentence.repeat(Math.floor(MAX_MESSAGE_CHARACTERS / sentence.length)).trim(),
    });
  });

  it('are cut at the end of a word when there is no sentence', async () => {
    const step = await stepFor(text('bright '.repeat(1000)));
    expect(step).toMatchObject({ text: expect.stringMatching(/bright…$/) });
    expect([...(step as { text: string }).text].length).toBeLessThanOrEqual(MAX_MESSAGE_CHARACTERS);
  });

  it('are cut between characters when there is no word', async () => {
    const step = (await stepFor(text('🎉'.repeat(5000)))) as { text: string };
    expect(step.text).toBe(`${'🎉'.repeat(MAX_MESSAGE_CHARACTERS - 1)}…`);
  });

  it('that are as long as a message may be stay whole', async () => {
    const longest = '🎉'.repeat(MAX_MESSAGE_CHARACTERS);
    expect(await stepFor(text(longest))).toEqual({ type: 'reply', text: longest });
  });

  it('end at a sentence when the model ran out of tokens', async () => {
    expect(await stepFor(text('It has shipped yesterday. It will arr', 'length'))).toEqual({
      type: 'reply',
      text: 'It has shipped yesterday.',
    });
  });
});

describe('tool calls', () => {
  it('are a step, with what was said beside them left out', async () => {
    const step = await stepFor(
      toolCalls({ name: 'lookup_order', arguments: { order: '7' } }, 'One moment.'),
    );
    expect(step).toEqual({
      type: 'tool_calls',
      calls: [{ tool: 'lookup_order', arguments: { order: '7' } }],
    });
  });

  it('that come together are one step', async () => {
    const step = await stepFor(
      toolCalls([
        { name: 'lookup_order', arguments: { order: '7' } },
        { name: 'lookup_order', arguments: { order: '8' } },
      ]),
    );
    expect(step).toEqual({
      type: 'tool_calls',
      calls: [
        { tool: 'lookup_order', arguments: { order: '7' } },
        { tool: 'lookup_order', arguments: { order: '8' } },
      ],
    });
  });

  it('need no id, nor a type, nor arguments', async () => {
    const tool_calls = [
      { function: { name: 'lookup_order' } },
      { id: '', function: { name: 'lookup_order', arguments: '' } },
      { id: '', function: { name: 'lookup_order', arguments: { order: '7' } } },
    ];
    expect(await stepFor(choice({ message: { content: null, tool_calls } }))).toEqual({
      type: 'tool_calls',
      calls: [
        { tool: 'lookup_order', arguments: {} },
        { tool: 'lookup_order', arguments: {} },
        { tool: 'lookup_order', arguments: { order: '7' } },
      ],
    });
  });

  it.each([['{"order": 7'], ['order=7'], ['['.repeat(100_000)]])(
    'keep arguments that are not JSON as they are (%#)',
    async (given) => {
      expect(await stepFor(toolCalls({ name: 'lookup_order', arguments: given }))).toEqual({
        type: 'tool_calls',
        calls: [{ tool: 'lookup_order', arguments: given }],
      });
    },
  );

  it('whose arguments the token limit cut off keep what there is of them', async () => {
    const step = await stepFor(
      toolCalls({ name: 'lookup_order', arguments: '{"order":"' }, null, 'length'),
    );
    expect(step).toEqual({
      type: 'tool_calls',
      calls: [{ tool: 'lookup_order', arguments: '{"order":"' }],
    });
  });

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
    const step = await stepFor(
      toolCalls([
        { name: 'hand-over', arguments: { reason: 'customer_request' } },
        { name: 'lookup_order', arguments: { order: '7' } },
        { name: 'close-conversation', arguments: { verdict: 'goal_reached', summary: 'Done' } },
        { name: 'mark-qualified' },
      ]),
    );
    expect(step).toEqual({
      type: 'tool_calls',
      calls: [{ tool: 'lookup_order', arguments: { order: '7' } }],
      qualify: true,
    });
  });

  it('are an error where the model had to reply', async () => {
    const { server, next, lastFunctionNames } = await openModel();
    server.answerWith(toolCalls({ name: 'lookup_order', arguments: { order: '7' } }));
    expect((await failureOf(next(turnOf({ mayCallTools: false })))).message).toContain(
      'was to reply',
    );
    expect(lastFunctionNames()).toEqual(['hand-over', 'close-conversation', 'mark-qualified']);
  });
});

describe('hand-over', () => {
  it('gives its reason and what the customer is told', async () => {
    const step = await stepFor(
      toolCalls({
        name: 'hand-over',
        arguments: { reason: 'customer_request', message: 'A colleague takes over.' },
      }),
    );
    expect(step).toEqual({
      type: 'hand_over',
      reason: 'customer_request',
      text: 'A colleague takes over.',
    });
  });

  it("takes the model's words when it has no message of its own, and none when there are none", async () => {
    const call = { name: 'hand-over', arguments: { reason: 'missing_knowledge' } };
    expect(await stepFor(toolCalls(call, 'I do not know that.'))).toEqual({
      type: 'hand_over',
      reason: 'missing_knowledge',
      text: 'I do not know that.',
    });
    expect(await stepFor(toolCalls(call))).toEqual({
      type: 'hand_over',
      reason: 'missing_knowledge',
      text: null,
    });
  });

  it.each([['{"reason":'], ['{"reason":"boredom"}'], ['[]']])(
    'happens with broken arguments too: %s',
    async (given) => {
      expect(await stepFor(toolCalls({ name: 'hand-over', arguments: given }))).toEqual({
        type: 'hand_over',
        reason: 'missing_knowledge',
        text: null,
      });
    },
  );

  it('comes before a close', async () => {
    const step = await stepFor(
      toolCalls([
        { name: 'close-conversation', arguments: { verdict: 'unknown', summary: 's' } },
        { name: 'hand-over', arguments: { reason: 'customer_request' } },
      ]),
    );
    expect(step).toMatchObject({ type: 'hand_over', reason: 'customer_request' });
  });

  it('may also be called hand_over, unless a live tool has that name', async () => {
    const call = toolCalls({ name: 'hand_over', arguments: { reason: 'customer_request' } });
    expect(await stepFor(call)).toMatchObject({ type: 'hand_over' });
    expect(
      await stepFor(call, turnOf({ tools: [{ ...lookupTool, name: 'hand_over' }] })),
    ).toMatchObject({ type: 'tool_calls', calls: [{ tool: 'hand_over' }] });
  });
});

describe('close-conversation', () => {
  const closing = { verdict: 'goal_reached', summary: 'Order 7 has shipped.' };

  it('replies with its message and closes', async () => {
    const step = await stepFor(
      toolCalls(
        { name: 'close-conversation', arguments: { ...closing, message: 'Bye!' } },
        'ignored',
      ),
    );
    expect(step).toEqual({ type: 'reply', text: 'Bye!', close: closing });
  });

  it("replies with the model's words when it has no message", async () => {
    expect(
      await stepFor(toolCalls({ name: 'close-conversation', arguments: closing }, 'See you.')),
    ).toEqual({ type: 'reply', text: 'See you.', close: closing });
  });

  it.each([
    ['en', 'Thank you for your message. Goodbye!'],
    ['es', 'Gracias por su mensaje. ¡Hasta luego!'],
    ['pt', 'Obrigado pela sua mensagem. Até logo!'],
  ] as const)(
    'says good-bye in the language of the turn (%s) when the model says nothing',
    async (language, goodbye) => {
      expect(
        await stepFor(
          toolCalls({ name: 'close-conversation', arguments: closing }),
          turnOf({ language }),
        ),
      ).toEqual({ type: 'reply', text: goodbye, close: closing });
    },
  );

  it('closes as unknown when the verdict is not one of ours, and takes its last words as a missing summary', async () => {
    const step = await stepFor(
      toolCalls({ name: 'close-conversation', arguments: { verdict: 'great', message: 'Bye!' } }),
    );
    expect(step).toEqual({
      type: 'reply',
      text: 'Bye!',
      close: { verdict: 'unknown', summary: 'Bye!' },
    });
  });

  it('cuts a summary to what a conversation can hold', async () => {
    const step = (await stepFor(
      toolCalls({
        name: 'close-conversation',
        arguments: { ...closing, summary: 'x'.repeat(5000) },
      }),
    )) as { close: { summary: string } };
    expect(step.close.summary).toHaveLength(4000);
  });

  it('closes nothing with broken arguments', async () => {
    const broken = { name: 'close-conversation', arguments: '{"verdict":"goal_rea' };
    expect(await stepFor(toolCalls(broken, 'See you.'))).toEqual({
      type: 'reply',
      text: 'See you.',
    });
    const { server, next } = await openModel();
    server.answerWith(toolCalls(broken));
    expect((await failureOf(next())).message).toContain('close the conversation');
  });
});

describe('mark-qualified', () => {
  it('goes with the reply', async () => {
    expect(await stepFor(toolCalls({ name: 'mark-qualified' }, 'Great!'))).toEqual({
      type: 'reply',
      text: 'Great!',
      qualify: true,
    });
  });

  it('goes with a close', async () => {
    const step = await stepFor(
      toolCalls([
        { name: 'mark-qualified' },
        {
          name: 'close-conversation',
          arguments: { verdict: 'goal_reached', summary: 's', message: 'Bye!' },
        },
      ]),
    );
    expect(step).toEqual({
      type: 'reply',
      text: 'Bye!',
      qualify: true,
      close: { verdict: 'goal_reached', summary: 's' },
    });
  });

  it('alone is confirmed to the model, which is then asked for its reply', async () => {
    const { server, next, lastMessages } = await openModel();
    server.answerWith(
      toolCalls([{ name: 'mark-qualified' }, { name: 'mark-qualified' }]),
      text('Great, when may we call?'),
    );
    expect(await next()).toEqual({
      type: 'reply',
      text: 'Great, when may we call?',
      qualify: true,
    });
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
    server.answerWith(
      toolCalls({ name: 'mark-qualified' }),
      toolCalls({ name: 'lookup_order', arguments: { order: '7' } }),
    );
    expect(await next()).toMatchObject({ type: 'tool_calls', qualify: true });
    server.answerWith(
      toolCalls({ name: 'mark-qualified' }),
      toolCalls({ name: 'hand-over', arguments: { reason: 'customer_request' } }),
    );
    expect(await next()).toEqual({
      type: 'hand_over',
      reason: 'customer_request',
      text: null,
      qualify: true,
    });
  });

  it('goes with a hand-over', async () => {
    const handOver = { name: 'hand-over', arguments: { reason: 'customer_request' } };
    expect(await stepFor(toolCalls([{ name: 'mark-qualified' }, handOver]))).toEqual({
      type: 'hand_over',
      reason: 'customer_request',
      text: null,
      qualify: true,
    });
  });

  it('alone for a second time is an empty answer, and there is no third request', async () => {
    const { server, next } = await openModel();
    server.answerBy(() => toolCalls({ name: 'mark-qualified' }));
    expect((await failureOf(next())).message).toBe('The model gave an empty answer.');
    expect(server.requests).toHaveLength(2);
  });
});

describe('an answer that says nothing is an error:', () => {
  it.each([
    ['content null', choice({ message: { content: null } }), 'The model gave an empty answer.'],
    ['no content at all', choice({ message: {} }), 'The model gave an empty answer.'],
    ['empty content', text('  \n'), 'The model gave an empty answer.'],
    [
      'the mark of a team member alone',
      text('[sent by the team]'),
      'The model gave an empty answer.',
    ],
    [
      'an empty list of calls',
      choice({ message: { content: '', tool_calls: [] } }),
      'The model gave an empty answer.',
    ],
    ['reasoning alone', text('<think>still thinking', 'length'), 'The model gave an empty answer.'],
    ['a refusal', refusal(), 'The model refused to answer.'],
    ['a content filter', contentFilter(), "The model's content filter withheld the answer."],
    ['no choices', emptyChoices(), 'The model answered without any choice.'],
    [
      'an error as success',
      raw('{"error":{"message":"overloaded"}}'),
      'The model answered without any choice.',
    ],
    [
      'invalid JSON',
      raw('{"choices":[{"mess'),
      'The model answered with something that is not JSON: check LLM_BASE_URL (it usually ends in /v1).',
    ],
    [
      'a page',
      raw('<!doctype html><title>Welcome</title>', 'text/html'),
      'The model answered with something that is not JSON: check LLM_BASE_URL (it usually ends in /v1).',
    ],
    [
      'an empty body',
      raw(''),
      'The model answered with something that is not JSON: check LLM_BASE_URL (it usually ends in /v1).',
    ],
    ['JSON null', raw('null'), expect.stringContaining('not a chat completion')],
    [
      'another form of message',
      raw('{"choices":[{"message":"hi"}]}'),
      expect.stringContaining('not a chat completion'),
    ],
  ])('%s', async (_what, reply, message) => {
    const { server, next } = await openModel();
    server.answerWith(reply);
    expect((await failureOf(next())).message).toEqual(message);
    expect(server.requests).toHaveLength(1);
  });
});
