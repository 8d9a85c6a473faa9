// What a customer, or a tool's definition, can make the agent work on: its cost is bounded, and no
// message is lost.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { anyAsksForPerson } from '../../../service/src/agent/keyword/phrases.ts';
import { contentTerms } from '../../../service/src/agent/keyword/chooseTool.ts';
import { currentRequest } from '../../../service/src/agent/keyword/request.ts';
import {
  patternFinder,
  PatternBudgetError,
  PatternWork,
  patternSize,
} from '../../../service/src/platform/linearPattern.ts';
import { splitText } from '../../../service/src/channels/outbound/splitText.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { KEYWORD_ONLY, startAgentService, type AgentService } from './agentService.ts';

/**
 * The CPU time allowed between two turns of the event loop; a slow machine needs some room. Without
 * bounds, the tool and the message below took 7 seconds, and four such messages 42.
 */
const MAX_STALL_MS = 2_000;

/** Patterns that a definition may have, each the worst of its kind. */
const HEAVY = [
  '(?:(?:a|b)[ab]?){900}',
  '(?:(?:a|b)[ab]?){900}c',
  '^(?:a?b?){900}$',
  '(a|b)*a(a|b){900}',
  '(?:(?:a{0,30}b){0,30})',
  '[ab]{1000}c',
];

describe('text that costs', () => {
  let agent: AgentService;
  let timer: NodeJS.Timeout;
  let longestStallMs: number;
  beforeAll(async () => {
    agent = await startAgentService({ env: KEYWORD_ONLY });
  });
  afterAll(() => agent.close());
  beforeEach(() => {
    longestStallMs = 0;
    let last = cpuMs();
    timer = setInterval(() => {
      const now = cpuMs();
      longestStallMs = Math.max(longestStallMs, now - last);
      last = now;
    }, 10);
  });
  afterEach(() => clearInterval(timer));

  it('patterns of 900 counts and a long message: a person takes over, and the loop does not stand still', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [
        `order_${at}`,
        { type: 'string', pattern: HEAVY[at % HEAVY.length], description: `Order ${at}` },
      ]),
    );
    await agent.tool('track_order', {
      description: 'Status of an order',
      parameters: { type: 'object', properties },
    });

    const words = `track my order: ${'ab'.repeat(1_990)}`;
    const talk = await agent.talk(words);
    await talk.reply();
    expect((await talk.record()).status).toBe('awaiting_human');
    const { value } = await readMetrics(agent.service.url);
    const bound = { bound: 'pattern_work' };
    expect(value('conversation_service_bound_reached_total', bound)).toBeGreaterThan(0);
    expect(longestStallMs).toBeLessThan(MAX_STALL_MS);
    // What the customer wrote is all there, for the person who takes over.
    expect((await talk.record()).messages[0].text).toBe(words);
  });

  it.each([
    ['two thousand clauses', '1.'.repeat(2_048)],
    ['one word with at signs', 'a@'.repeat(2_048)],
    ['signs that fold to eighteen letters each', 'ﷺ'.repeat(4_096)],
    ['a request said a hundred times', 'please cancel my order 12. '.repeat(150)],
    ['as many requests as words', 'and cancel '.repeat(370)],
  ])('a burst of messages with %s is answered', async (_what, words) => {
    const talk = await agent.talk(words);
    await Promise.all(Array.from({ length: 20 }, () => talk.write(words)));
    await talk.reply();
    expect(longestStallMs).toBeLessThan(MAX_STALL_MS);
    expect((await talk.record()).message_count).toBeGreaterThan(20);
  });
});

describe('what is read is cut to a size', () => {
  it('the newest messages of a request are read, each of them whole', () => {
    const customer = (text: string) => ({ type: 'customer', text }) as const;
    const history = Array.from({ length: 100 }, (_, at) => customer(`${at} `.padEnd(1_000, 'x')));
    const { newest, sources } = currentRequest(history);
    expect([
      newest.length < 9_000,
      newest.endsWith(history.at(-1)!.text),
      newest.startsWith('92 '),
      sources.length,
    ]).toEqual([true, true, true, 1]);
    expect(currentRequest([customer('y'.repeat(20_000))]).newest).toHaveLength(8_192);
  });

  it('a person is found to be asked for at either end of a message of many clauses', () => {
    const clauses = Array.from({ length: 500 }, (_, at) => `clause ${at}`).join('. ');
    const asked = 'I want to talk to a person';
    expect(
      [`${asked}. ${clauses}`, `${clauses}. ${asked}`, clauses].map((text) =>
        anyAsksForPerson([{ text }]),
      ),
    ).toEqual([true, true, false]);
  });

  it('a person is found to be asked for in the last of many messages', () => {
    const burst = Array.from({ length: 100 }, () => ({ text: 'where is it? '.repeat(300) }));
    expect(anyAsksForPerson([...burst, { text: 'I want to talk to a person' }])).toBe(true);
  });

  it('each search costs the size of the pattern times that of the text, and ends when the budget is used up', () => {
    const text = 'AB123 '.repeat(50);
    const find = (pattern: string, within: string, budget: number) =>
      patternFinder(pattern, new PatternWork(budget))!.find(within, 50);
    expect(find('[A-Z]{2}\\d{3}', text, 1e8)).toHaveLength(50);
    expect(() => find('[A-Z]{2}\\d{3}', text, 10_000)).toThrow(PatternBudgetError);
    // Compiling costs too: a pattern that nobody has used yet does not begin.
    expect(() => find('(?:never seen before){500}', 'x', 100_000)).toThrow(PatternBudgetError);
  });

  it.each([
    ['(?:(?:a|b)[ab]?){900}', 4_503],
    [`(?:${'a'.repeat(980)}){1000}`, 980_003],
    [`(?:(?:${'[ab]'.repeat(245)}){30}){33}`, 242_553],
    ['(?:(?:(?:a{1,10}){1,10}){1,10})', 2_002],
    ['^[A-Z]{2}-\\d{3,6}$', 17],
    ['a{100,}', 105],
    ['[\\]a{5}]', 4],
    ['x{', 5],
  ])('the size of a pattern is told before it is compiled: %#', (pattern, size) =>
    expect(patternSize(pattern)).toBe(size),
  );

  it.each<[string, (length: number) => void]>([
    ['the words of one long word', (length) => contentTerms('a@'.repeat(length / 2))],
    ['the pieces of brackets', (length) => splitText(')'.repeat(length), length / 2)],
  ])('%s cost what their length costs', (_what, read) => {
    const cost = (length: number) =>
      Math.min(...Array.from({ length: 5 }, () => timed(() => read(length))));
    // Eight times the text once took sixty-four times as long. The shortest of five runs counts,
    // and anything below a millisecond counts as one.
    expect(cost(8 * 2_048)).toBeLessThan(24 * Math.max(1, cost(2_048)));
  });
});

function timed(work: () => void): number {
  const before = cpuMs();
  work();
  return cpuMs() - before;
}

/** The CPU time of this thread alone: other work on the machine does not count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
