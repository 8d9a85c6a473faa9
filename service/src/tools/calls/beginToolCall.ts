import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import { mayComeBack, timeoutMsOf, type Tool } from '../tool.ts';
import {
  beginAttempt,
  complete,
  isBuiltIn,
  recoverInterrupted,
  type ToolCall,
} from './toolCall.ts';
import { lockToolCall, enqueueToolCall, isCallGone } from '../operations/toolCalls.ts';
import { completeToolCall } from '../operations/completeToolCall.ts';
import type { Lease } from '../../platform/jobs/worker.ts';
import { maxAttemptMs } from './attemptToolCall.ts';
import type { ToolAddress } from './toolRequest.ts';

/** An attempt that is recorded and can be made now. */
interface BegunCall {
  readonly call: ToolCall;
  readonly address: ToolAddress;
  readonly timeoutMs: number;
}

/** How often to look whether an unpublished tool was published again. */
const UNPUBLISHED_RETRY_MS = 2000;

/**
 * Records the beginning of an attempt before anything is sent. Completes a call that has expired,
 * that a crash interrupted for good, that is no longer wanted or whose contact was forgotten, and
 * makes a built-in call in the same transaction. A call of a tool that was unpublished waits for a
 * minute.
 * @param lease when too little of it is left, another worker gets the call
 * @returns null when there is nothing to send
 */
export async function beginToolCall(
  deps: Deps,
  id: string,
  lease: Pick<Lease, 'covers'>,
): Promise<BegunCall | null> {
  const begun = await deps.store.transaction(async (tx) => {
    const now = deps.clock.now();
    const stored = await lockToolCall(tx, id);
    // The lease may have ended while this waited for the lock.
    if (!lease.covers(0)) return null;
    if (stored?.status === 'pending_approval') return waitOrExpire(tx, deps, stored, now);
    if (stored?.status !== 'running') {
      await tx.jobs.complete(id);
      return null;
    }
    const call = recoverInterrupted(stored, now);
    const saveCompleted = (completed: ToolCall) =>
      completeToolCall(tx, deps, stored, completed, now).then(() => null);
    if (call.status !== 'running') return saveCompleted(call);
    if (await isCallGone(tx, call)) return saveCompleted(complete(call, 'cancelled', now));
    if (isBuiltIn(call))
      return saveCompleted(await deps.reactions.onBuiltInCall(tx, deps, call, now));
    const tool = call.toolId === null ? null : await tx.tools.peek(call.toolId);
    if (tool && call.purpose === 'agent' && mayComeBack(tool, now)) {
      await enqueueToolCall(tx, call, now.getTime() + UNPUBLISHED_RETRY_MS);
      return null;
    }
    if (!tool || !(await isStillWanted(tx, call, tool)))
      return saveCompleted(complete(call, 'cancelled', now));
    if (!lease.covers(maxAttemptMs(timeoutMsOf(tool)))) return null;
    const started = beginAttempt(call);
    await tx.toolCalls.put(started);
    return { call: started, tool };
  });
  return (
    begun && {
      call: begun.call,
      address: addressOf(deps, begun.tool),
      timeoutMs: timeoutMsOf(begun.tool),
    }
  );
}

/** Expires a call whose time for a decision is over; otherwise schedules it for that moment. */
async function waitOrExpire(tx: Tx, deps: Deps, call: ToolCall, now: Date): Promise<null> {
  const expiresAt = Date.parse(call.expiresAt ?? call.createdAt);
  if (expiresAt > now.getTime()) await enqueueToolCall(tx, call, expiresAt);
  else await completeToolCall(tx, deps, call, complete(call, 'expired', now), now);
  return null;
}

/**
 * Checks the tool before each attempt. A tool whose definition has changed is not called again. A
 * tool that is no longer live is called only for a test. Before the first attempt, a call without
 * an approval is also dropped when the customer has written or somebody has taken over since.
 */
async function isStillWanted(tx: Tx, call: ToolCall, tool: Tool): Promise<boolean> {
  if (tool.definitionHash !== call.definitionHash) return false;
  if (call.purpose !== 'agent') return true;
  if (tool.status !== 'live') return false;
  if (call.attempts > 0 || call.decision !== null) return true;
  const conversation =
    call.conversationId === null ? null : await tx.conversations.get(call.conversationId);
  return conversation?.status === 'ai_active' && conversation.controlEpoch === call.controlEpoch;
}

function addressOf({ secrets }: Deps, tool: Tool): ToolAddress {
  if (tool.requestTemplate !== null) {
    const opened = Object.entries(tool.sealedTemplateSecrets).map(
      ([name, sealed]) => [name, secrets.open(sealed)] as const,
    );
    return { kind: 'HTTP', template: tool.requestTemplate, secrets: Object.fromEntries(opened) };
  }
  return { kind: 'Webhook', endpoint: tool.endpoint!, secret: secrets.open(tool.sealedSecret!) };
}
