import { maskJson, maskText } from '../domain/masking.ts';
import type { Contact } from '../domain/contact.ts';
import type { ToolCall } from '../domain/toolCall.ts';
import type { HistoryItem, PastToolCall } from './agentModel.ts';
import type { LoadedTurn } from './loadTurn.ts';

/** How much of a tool's result a model is shown. */
export const RESULT_SHOWN_BYTES = 8 * 1024;

/**
 * What happened, as the model may see it: contact details masked, results cut. Messages and tool calls
 * stand in the order in which they came.
 */
export function historyOf({ messages, calls, contact }: LoadedTurn): HistoryItem[] {
  const first = messages[0]?.number ?? 1;
  const placed: { after: number; item: HistoryItem }[] = [];
  for (const step of Map.groupBy(calls, ({ stepId }) => stepId).values()) {
    const after = step[0]!.afterMessage;
    if (after < first) continue;
    const spokeOn = messages.some(({ number, sender }) => number > after && sender.type === 'agent');
    placed.push({ after, item: { type: 'tool_calls', calls: step.map((call) => pastCall(call, contact, call.neededApproval && spokeOn)) } });
    if (!spokeOn) continue;
    for (const call of step) {
      if (!call.neededApproval || call.finishedAt === null) continue;
      placed.push({ after: lastBefore(call.finishedAt), item: { type: 'late_result', call: pastCall(call, contact, false) } });
    }
  }
  return messages.flatMap((message) => {
    const text = maskText(message.text, contact);
    const said: HistoryItem =
      message.sender.type === 'customer' ? { type: 'customer', text } : { type: 'reply', from: message.sender.type === 'agent' ? 'agent' : 'team', text };
    return [said, ...placed.filter(({ after }) => after === message.number).map(({ item }) => item)];
  });

  function lastBefore(time: string): number {
    return messages.findLast(({ createdAt }) => createdAt <= time)?.number ?? first;
  }
}

/** @param asWaiting as it stood when its step went on: waiting for approval */
function pastCall(call: ToolCall, contact: Contact, asWaiting: boolean): PastToolCall {
  const mask = (text: string) => maskText(text, contact);
  const args = maskJson(call.arguments, contact) as PastToolCall['arguments'];
  const past = { id: call.id, tool: call.tool, arguments: args };
  if (asWaiting || call.status === 'pending_approval') return { ...past, status: 'pending_approval', outcome: 'A person of the team decides whether this may run.' };
  if (call.status === 'succeeded') return { ...past, status: 'succeeded', outcome: cutToBytes(JSON.stringify(maskJson(call.result, contact)), RESULT_SHOWN_BYTES) };
  if (call.error?.type === 'invalid_arguments') return { ...past, status: 'invalid', outcome: mask(call.error.message) };
  const status = call.status === 'running' ? 'failed' : call.status;
  return { ...past, status, outcome: `${ENDED[status]}${call.error ? ` ${mask(call.error.message)}` : ''}` };
}

const ENDED = {
  failed: 'The call failed: it was not done.',
  rejected: 'The team did not approve it: it was not done.',
  expired: 'Nobody approved it in time: it was not done.',
  cancelled: 'It was cancelled: it was not done.',
} as const;

/** The beginning of a text, at most so many bytes of UTF-8, without half a character at its end. */
export function cutToBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= most ? text : `${new TextDecoder().decode(bytes.subarray(0, most), { stream: true })}… (cut)`;
}
