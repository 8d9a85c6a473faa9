import type { AgentTool, HistoryItem } from '../agentModel.ts';
import { whatWasAsked } from '../sentences.ts';
import { argumentsOf } from './schema.ts';
import { isNamed, type Source } from './fillArguments.ts';
import { bestTool } from './ranking.ts';

/**
 * What the customer wants now, worked out from the history alone: the messages that asked for it,
 * our questions for missing arguments, and the answers to them.
 */
export interface Request {
  /** What the customer wrote last, since anyone else wrote or did something. */
  readonly newest: string;
  /** Everything the customer wrote for this request, the newest first. */
  readonly sources: readonly Source[];
  /** What we asked for, the newest first. */
  readonly asked: readonly string[];
}

const MAX_STEPS = 100;

/**
 * Texts of one request that are looked at again for each argument: questions and answers in chat
 * are few.
 */
const MAX_SOURCES = 20;

/**
 * Characters of them together, the newest first: two messages as long as they can be, or a whole
 * dialogue of usual ones.
 */
const MAX_REQUEST_TEXT = 8_192;

/**
 * The request that the end of a history is about; calls that were refused for their arguments
 * belong to it.
 */
export function currentRequest(history: readonly HistoryItem[]): Request {
  const sources: Source[] = [];
  const asked: string[] = [];
  let group: string[] = [];
  let newest: string | null = null;
  let length = 0;
  const close = (question: string | null) => {
    if (group.length === 0) return;
    const text = group.toReversed().join('\n');
    newest ??= text;
    sources.push({ text, asked: question });
    group = [];
  };
  for (const item of history.toReversed().slice(0, MAX_STEPS)) {
    if (item.type === 'customer') {
      length += item.text.length;
      if (length > MAX_REQUEST_TEXT && length > item.text.length) break;
      group.push(item.text.slice(0, MAX_REQUEST_TEXT));
      continue;
    }
    if (item.type === 'tool_calls' && item.calls.every(({ status }) => status === 'invalid'))
      continue;
    const question =
      item.type === 'reply' && item.from === 'agent' ? whatWasAsked(item.text) : null;
    if (question === null || sources.length === MAX_SOURCES) break;
    close(question);
    asked.push(question);
  }
  close(null);
  return { newest: newest ?? '', sources, asked };
}

/**
 * The tool that our last question was for; null when no live tool has such an argument any more.
 */
export function askedTool(
  { asked, sources }: Request,
  tools: readonly AgentTool[],
): AgentTool | null {
  const [last] = asked;
  if (last === undefined) return null;
  const askers = tools.filter((tool) =>
    argumentsOf(tool).some((argument) => isNamed(argument, last)),
  );
  if (askers.length <= 1) return askers[0] ?? null;
  return bestTool(openingOf(sources), askers)?.tool ?? null;
}

/** What the customer began this request with. */
export const openingOf = (sources: readonly Source[]): string =>
  sources
    .filter((source) => source.asked === null)
    .map(({ text }) => text)
    .join('\n');
