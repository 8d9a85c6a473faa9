import { maskJson, maskText } from '../../platform/masking.ts';
import { resultExcerpt, type ToolCall } from '../../tools/index.ts';
import {
  isDialogue,
  lastDialogueMessage,
  type Contact,
  type Message,
} from '../../conversations/index.ts';
import type { HistoryItem, PastToolCall } from '../agentModel.ts';
import type { LoadedTurn } from './loadTurn.ts';

/** The bytes of a tool's result that a model sees. It needs less of older results. */
const RESULT_SHOWN_BYTES = 8 * 1024;
const OLDER_SHOWN_BYTES = 512;
/** So many of the newest calls get `RESULT_SHOWN_BYTES`, the others `OLDER_SHOWN_BYTES`. */
const RECENT_CALLS = 8;

/** The characters of messages that a model sees, from the newest back. Most conversations are shorter. */
const MAX_HISTORY_CHARACTERS = 60_000;

/** Arguments that are longer as JSON are not shown again, since every turn would mask and read them. */
const MAX_ARGUMENTS_CHARACTERS = 8 * 1024;

/**
 * The conversation as the model may see it: messages and tool calls in order, with contact details
 * masked and results cut.
 */
export function historyOf({
  messages: loaded,
  calls,
  contact,
  unanswered,
}: LoadedTurn): HistoryItem[] {
  const messages = newestOf(loaded);
  const first = messages[0]?.number ?? 1;
  const recent = new Set(calls.slice(-RECENT_CALLS));
  const past = (call: ToolCall, asWaiting: boolean) =>
    pastCall(call, contact, asWaiting, recent.has(call) ? RESULT_SHOWN_BYTES : OLDER_SHOWN_BYTES);
  const placed: { after: number; item: HistoryItem }[] = [];
  for (const step of Map.groupBy(calls, ({ stepId }) => stepId).values()) {
    const after = step[0]!.afterMessage;
    // The messages around the step are too old to be shown. A result that came since is news.
    const isOld = after < first;
    const hasReplied = messages.some(
      ({ number, sender }) => number > after && sender.type === 'agent',
    );
    if (!isOld)
      placed.push({
        after,
        item: {
          type: 'tool_calls',
          calls: step.map((call) => past(call, hasReplied && isLate(call))),
        },
      });
    if (!hasReplied && !isOld) continue;
    for (const call of step) {
      if (!isLate(call) || call.finishedAt === null) continue;
      if (isOld && call.finishedAt < (messages[0]?.createdAt ?? '')) continue;
      placed.push({
        after: placeOfResult(call.finishedAt),
        item: { type: 'late_result', call: past(call, false) },
      });
    }
  }
  const lastOfTurn = lastDialogueMessage(messages.toReversed())?.number ?? 0;
  return messages.flatMap((message) => {
    // What was sent beside the agent since then is no reason for this step.
    const isShown = message.number <= lastOfTurn;
    return [
      ...(isShown ? [historyItem(message, contact)] : []),
      ...placed.filter(({ after }) => after === message.number).map(({ item }) => item),
    ];
  });

  /** Whether the call ended after the agent had said that it waits, so that its result is news. */
  function isLate({ neededApproval, isTold, finishedAt }: ToolCall): boolean {
    if (!neededApproval) return false;
    // A result that was told while a person was awaited is no news, although no reply follows it.
    return !isTold || finishedAt === null || messages.some(isReplySince(finishedAt));
  }

  /** The messages that wait for an answer come last: they are the reason for this step. */
  function placeOfResult(finishedAt: string): number {
    const next = unanswered[0]?.number ?? Infinity;
    return (
      messages.findLast(({ number, createdAt }) => number < next && createdAt <= finishedAt)
        ?.number ?? first
    );
  }
}

const isReplySince = (time: string) => (message: Message) =>
  message.direction === 'outbound' && isDialogue(message) && message.createdAt >= time;

function historyItem({ sender, text, isBesideAgent }: Message, contact: Contact): HistoryItem {
  const masked = maskText(text, contact);
  if (sender.type === 'customer') return { type: 'customer', text: masked };
  const reply = { type: 'reply', from: sender.type === 'agent' ? 'agent' : 'team' } as const;
  return { ...reply, text: masked, ...(isBesideAgent === true ? { isBesideAgent } : {}) };
}

/** @returns the newest messages that fit into `MAX_HISTORY_CHARACTERS` together, at least one */
function newestOf(messages: LoadedTurn['messages']): LoadedTurn['messages'] {
  let length = 0;
  const tooOld = messages.findLastIndex(
    ({ text }, at) => (length += text.length) > MAX_HISTORY_CHARACTERS && at < messages.length - 1,
  );
  return messages.slice(tooOld + 1);
}

function shownResult(call: ToolCall, contact: Contact, maxBytes: number): string {
  const { text, isCut } = resultExcerpt(call, contact, maxBytes);
  return isCut ? `${text}… (cut)` : text;
}

/** @param asWaiting shows the call as waiting for approval, as it was when the agent replied */
export function pastCall(
  call: ToolCall,
  contact: Contact,
  asWaiting: boolean,
  maxBytes = RESULT_SHOWN_BYTES,
): PastToolCall {
  const mask = (text: string) => maskText(text, contact);
  const isLong = JSON.stringify(call.arguments).length > MAX_ARGUMENTS_CHARACTERS;
  const args = isLong
    ? { note: 'These arguments are too long to be shown again.' }
    : (maskJson(call.arguments, contact) as PastToolCall['arguments']);
  const past = { id: call.id, tool: call.tool, arguments: args };
  if (asWaiting || call.status === 'pending_approval')
    return {
      ...past,
      status: 'pending_approval',
      outcome: 'A person of the team decides whether this may run.',
    };
  if (call.status === 'succeeded')
    return { ...past, status: 'succeeded', outcome: shownResult(call, contact, maxBytes) };
  if (call.error?.type === 'invalid_arguments')
    return { ...past, status: 'invalid', outcome: mask(call.error.message) };
  const status = call.status === 'running' ? 'failed' : call.status;
  return {
    ...past,
    status,
    outcome: `${mayHaveBeenDone(call) ? UNKNOWN : ENDED[status]}${call.error ? ` ${mask(call.error.message)}` : ''}`,
  };
}

const ENDED = {
  failed: 'The call failed: it was not done.',
  rejected: 'The team did not approve it: it was not done.',
  expired: 'Nobody approved it in time: it was not done.',
  cancelled: 'It was cancelled: it was not done.',
} as const;

const UNKNOWN = 'The call failed, and it is not known whether it was done.';

/** Whether the call was sent, and no answer says that it was refused. */
const mayHaveBeenDone = ({ status, attempts, error, httpStatus }: ToolCall): boolean =>
  status === 'failed' &&
  attempts > 0 &&
  error?.type !== 'blocked_address' &&
  !(httpStatus !== null && httpStatus >= 400 && httpStatus < 500);
