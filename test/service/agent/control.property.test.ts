// Whatever happens in any order: an agent that is not in control stays silent, and one that is in
// control answers once.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { text, toolCalls } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { answers, startAgentService, type AgentService, type Talk } from './agentService.ts';

type Action = 'write' | 'takeover' | 'handback' | 'messages' | 'close';
interface Step {
  readonly action: Action;
  /** The pause before the action, ms. */
  readonly after: number;
}
interface Story {
  readonly steps: readonly Step[];
  /** How long the model takes for each answer in turn, ms. */
  readonly delays: readonly number[];
  /** Which of the model's answers to a customer are tool calls. */
  readonly callsTool: readonly boolean[];
}

const delay = fc.nat({ max: 40 });
const action = fc.constantFrom<Action>(
  'write',
  'write',
  'write',
  'takeover',
  'handback',
  'handback',
  'messages',
  'close',
);
const story: fc.Arbitrary<Story> = fc.record({
  steps: fc.array(fc.record({ action, after: delay }), { minLength: 2, maxLength: 8 }),
  delays: fc.array(delay, { minLength: 3, maxLength: 6 }),
  callsTool: fc.array(fc.boolean(), { minLength: 2, maxLength: 5 }),
});

let agent: AgentService;
beforeAll(async () => {
  agent = await startAgentService({ env: { AGENT_QUIET_MS: '10' } });
  await agent.tool('work', {
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
  });
});
afterAll(() => agent?.close());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
let stories = 0;

/** Plays a story in a conversation of its own, up to a close, and checks who wrote what. */
async function play(
  { steps, delays, callsTool }: Story,
  scripts: Map<string, Story>,
): Promise<void> {
  const tag = `story ${++stories}`;
  scripts.set(tag, { steps, delays, callsTool });
  const talk = await agent.talk(`${tag}: hello`);
  /** Message counts between which the agent was not in control, and so must have written nothing. */
  const silent: { from: number; to: number }[] = [];
  let countWhenLost: number | null = null;
  let isClosed = false;
  for (const { action, after } of steps) {
    await pause(after);
    if (action === 'write') {
      if (!isClosed) await talk.write(`${tag}: more`);
      continue;
    }
    if (isClosed) break;
    if (action === 'handback' && countWhenLost !== null) {
      silent.push({ from: countWhenLost, to: (await talk.record()).message_count });
      countWhenLost = null;
    }
    const record = await talk.act(action);
    const { status, message_count } = record.conversation ?? record;
    if (status === 'human_active') countWhenLost ??= message_count;
    if (status === 'closed') {
      countWhenLost ??= message_count;
      isClosed = true;
    }
  }
  await settle(talk);
  const { messages, status } = await talk.record();
  if (countWhenLost !== null) silent.push({ from: countWhenLost, to: messages.length });

  const senders: string[] = messages.map(({ sender }: { sender: { type: string } }) => sender.type);
  for (const { from, to } of silent) expect(senders.slice(from, to)).not.toContain('agent');
  senders.forEach((sender, index) => {
    if (sender === 'agent') expect([index, senders[index - 1]]).toEqual([index, 'customer']);
  });
  if (status === 'ai_active') expect(senders.at(-1)).not.toBe('customer');
  expect((await talk.calls()).filter((call) => call.status === 'running')).toEqual([]);
}

/** Waits until the customer has every answer that is owed, and no call runs. */
async function settle(talk: Talk): Promise<void> {
  await waitFor('an answer that is owed, and the end of every call', async () => {
    const { status, messages } = await talk.record();
    const isOwed = status === 'ai_active' && messages.at(-1).sender.type === 'customer';
    return !isOwed && (await talk.calls()).every((call) => call.status !== 'running');
  });
  await pause(60); // longer than any answer takes: one that comes too late has come by then
}

it('keeps the rules of control in any order of events', async () => {
  const scripts = new Map<string, Story>();
  const turns = new Map<string, number>();
  const next = (tag: string) => {
    const n = turns.get(tag) ?? 0;
    turns.set(tag, n + 1);
    return n;
  };
  agent.model.answerBy(({ body }) => {
    const tag = /story \d+/.exec(JSON.stringify(body.messages))![0];
    const { delays, callsTool } = scripts.get(tag)!;
    const n = next(tag);
    const isToolCall = body.messages.at(-1)!.role === 'user' && callsTool[n % callsTool.length];
    const answer = isToolCall ? toolCalls({ name: 'work', arguments: { n } }) : text(`answer ${n}`);
    return (res, request) => void setTimeout(() => answer(res, request), delays[n % delays.length]);
  });
  let calls = 0;
  agent.tools.on(
    'work',
    (res, call) => void setTimeout(() => answers({ ok: true })(res, call), (calls++ * 13) % 40),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 6, maxLength: 6 }), (several) =>
      Promise.all(several.map((each) => play(each, scripts))).then(() => {}),
    ),
    { seed: 20261121, numRuns: 8, interruptAfterTimeLimit: 20_000, endOnFailure: true },
  );
}, 60_000);
