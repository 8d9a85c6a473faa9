import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import { timeoutMsOf, type Tool } from '../definition/tool.ts';
import {
  beginAttempt,
  complete,
  isBuiltIn,
  recoverInterrupted,
  type ToolCall,
} from './toolCall.ts';
import { lockToolCall, enqueueToolCall } from '../operations/toolCalls.ts';
import { completeToolCall } from '../operations/completeToolCall.ts';
import type { Lease } from '../../platform/jobs/worker.ts';
import { CONNECTION_WAIT_MS } from './attemptToolCall.ts';
import type { ToolAddress } from './toolRequest.ts';

/** An attempt that is on record and can be made now. */
interface BegunCall {
  readonly call: ToolCall;
  readonly address: ToolAddress;
  readonly timeoutMs: number;
}

/**
 * Records that an attempt of a claimed call begins, before anything is sent. Completes a call that
 * has expired, was interrupted by a crash, or is no longer wanted. Carries out a built-in call here,
 * in the same transaction.
 * @param lease of the claim: when too little of it is left, another worker gets the call
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
    if (!lease.covers(0)) return null;
    if (stored?.status === 'pending_approval') return awaitDecision(tx, deps, stored, now);
    if (stored?.status !== 'running') {
      await tx.jobs.complete(id);
      return null;
    }
    const call = recoverInterrupted(stored, now);
    const save = (completed: ToolCall) =>
      completeToolCall(tx, deps, stored, completed, now).then(() => null);
    if (call.status !== 'running') return save(call);
    if (isBuiltIn(call)) return save(await deps.reactions.onBuiltInCall(tx, deps, call, now));
    const tool = call.toolId === null ? null : await tx.tools.peek(call.toolId);
    if (!tool || !(await isStillWanted(tx, call, tool)))
      return save(complete(call, 'cancelled', now));
    if (!lease.covers(timeoutMsOf(tool) + CONNECTION_WAIT_MS)) return null;
    const attempt = beginAttempt(call);
    await tx.toolCalls.put(attempt);
    return { call: attempt, tool };
  });
  return (
    begun && {
      call: begun.call,
      address: addressOf(deps, begun.tool),
      timeoutMs: timeoutMsOf(begun.tool),
    }
  );
}

/** Nobody has decided yet: the call waits until it expires. */
async function awaitDecision(tx: Tx, deps: Deps, call: ToolCall, now: Date): Promise<null> {
  const expiresAt = Date.parse(call.expiresAt ?? call.createdAt);
  if (expiresAt > now.getTime()) await enqueueToolCall(tx, call, expiresAt);
  else await completeToolCall(tx, deps, call, complete(call, 'expired', now), now);
  return null;
}

/**
 * Checks control again right before the first attempt. A call that nobody approved is dropped when
 * the customer has written since, or when somebody took over; an approved one runs in any case. A
 * tool that was changed or paused since the call was recorded is not called.
 */
async function isStillWanted(tx: Tx, call: ToolCall, tool: Tool): Promise<boolean> {
  if (tool.definitionHash !== call.definitionHash) return false;
  if (call.purpose !== 'agent' || call.attempts > 0) return true;
  if (tool.status !== 'live') return false;
  if (call.decision !== null) return true;
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
