import type { HistoryItem } from '../agentModel.ts';
import { questionIn, type AgentQuestion } from './sentences.ts';
import type { Source } from './readArguments.ts';

/** What the customer wants now: their messages, our questions and their answers. */
export interface CustomerRequest {
  /** What the customer has written since the agent or the team last wrote or did something. */
  readonly newest: string;
  /** Everything the customer wrote for this request, the newest first. */
  readonly sources: readonly Source[];
  /** Our questions, the newest first. */
  readonly questions: readonly AgentQuestion[];
}

/** What an automation sent beside the agent. */
const isBeside = (item: HistoryItem): boolean =>
  item.type === 'reply' && item.isBesideAgent === true;

/**
 * A history without what an automation sent in the middle of the customer's messages: that ends no
 * request. What it sent directly after our question stays, because the customer may answer it.
 */
function withoutInterjections(history: readonly HistoryItem[]): readonly HistoryItem[] {
  let before: HistoryItem | undefined;
  return history.filter((item) => {
    if (isBeside(item)) return before?.type !== 'customer';
    before = item;
    return true;
  });
}

const MAX_STEPS = 100;
const MAX_SOURCES = 20;
/** For all texts together, counted back from the newest. */
const MAX_REQUEST_CHARACTERS = 8_192;

/**
 * Reads the customer's current request from the end of a history. A call refused for its arguments
 * does not end the request; a call that was made does.
 */
export function currentRequest(history: readonly HistoryItem[]): CustomerRequest {
  const sources: Source[] = [];
  const questions: AgentQuestion[] = [];
  let texts: string[] = [];
  let length = 0;
  const addSource = (question: AgentQuestion | null) => {
    const asked = question?.type === 'argument' ? question.what : null;
    const isCorrection = question?.type === 'confirmation';
    if (texts.length > 0)
      sources.push({ text: texts.toReversed().join('\n'), asked, isCorrection });
    texts = [];
  };
  for (const item of withoutInterjections(history).toReversed().slice(0, MAX_STEPS)) {
    if (item.type === 'customer') {
      const isNewest = length === 0;
      length += item.text.length;
      if (length > MAX_REQUEST_CHARACTERS && !isNewest) break;
      texts.push(item.text.slice(0, MAX_REQUEST_CHARACTERS));
      continue;
    }
    if (item.type === 'tool_calls' && item.calls.every(({ status }) => status === 'invalid'))
      continue;
    const question = item.type === 'reply' && item.from === 'agent' ? questionIn(item.text) : null;
    if (question === null || sources.length === MAX_SOURCES) break;
    addSource(question);
    questions.push(question);
  }
  addSource(null);
  return { newest: sources[0]?.text ?? '', sources, questions };
}
