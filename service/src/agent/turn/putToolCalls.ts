import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Conversation } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { newId } from '../../platform/ids.ts';
import {
  ARGUMENT_LIMITS,
  countToolCall,
  isComplete,
  paymentLinkResult,
  emitRequested,
  enqueueToolCall,
  complete,
  newToolCall,
  succeed,
  type ToolCall,
} from '../../tools/index.ts';
import { brokenLimit, holdsInfinity, type JsonObject } from '../../platform/json.ts';
import { findBuiltInTools } from '../operations/settings.ts';
import { findOpenPaymentLink, paymentPageUrl } from '../../payments/index.ts';
import { MAX_TOOL_CALLS_PER_TURN } from '../agentSettings.ts';
import { callsOfTurn, type LoadedTurn } from './loadTurn.ts';
import {
  isSameCall,
  REPEATED_CALL,
  resolveBuiltInCall,
  resolveCall,
  TOO_MANY_CALLS,
  type CheckedCall,
  type ResolvedCall,
} from './wantedCall.ts';

/**
 * Stores the calls of one step. A call that may run is queued, a call that needs approval waits, and a
 * call that cannot be made fails with a reason for the model, which may correct it.
 * @returns whether any of them runs now
 */
export async function putToolCalls(
  tx: Tx,
  deps: Deps,
  turn: LoadedTurn,
  conversation: Conversation,
  wanted: readonly CheckedCall[],
  now: Date,
): Promise<boolean> {
  const stepId = newId('step');
  const calls: ToolCall[] = [];
  for (const each of wanted) {
    const call = await makeCall(tx, deps, turn, { ...each, stepId, before: calls }, now);
    calls.push(call);
    await tx.toolCalls.put(call);
    if (isComplete(call)) await countToolCall(tx, call, now);
    if (call.status === 'running') await enqueueToolCall(tx, call, now.getTime());
    if (call.status === 'pending_approval')
      await enqueueToolCall(tx, call, Date.parse(call.expiresAt!));
  }
  const waiting = calls.filter(({ status }) => status === 'pending_approval');
  if (waiting.length > 0) {
    const pendingApprovals = conversation.pendingApprovals + waiting.length;
    const view = { ...turn, conversation: { ...conversation, pendingApprovals } };
    await tx.conversations.put(view.conversation);
    for (const call of waiting) await emitRequested(tx, call, view, now);
  }
  return calls.some(({ status }) => status === 'running');
}

interface WantedInStep extends CheckedCall {
  readonly stepId: string;
  /** The step's calls before this one. */
  readonly before: readonly ToolCall[];
}

async function makeCall(
  tx: Tx,
  deps: Deps,
  turn: LoadedTurn,
  wanted: WantedInStep,
  now: Date,
): Promise<ToolCall> {
  const { askBeforeRunning, problem, request, stored } = await resolve(tx, turn, wanted);
  const call = newCall(turn, wanted, stored, now);
  if (problem !== null) return refuseCall(call, problem, now);
  const repetition = repeatedCall(call, turn, wanted.before);
  if (repetition !== null)
    // The customer hears how the first call ended.
    return { ...refuseCall(call, repetition, now), isTold: true };
  if (callsOfTurn(turn).length + wanted.before.length >= MAX_TOOL_CALLS_PER_TURN)
    return refuseCall(call, TOO_MANY_CALLS, now);
  const open = request && (await findOpenPaymentLink(tx, turn.conversation.id, request, now));
  if (open)
    // An open link is returned again: nothing new is made, so nobody has to approve it.
    return succeed(call, paymentLinkResult(open, call.arguments, paymentPageUrl(deps, open)), now);
  if (!askBeforeRunning && wanted.needsApproval !== true) return call;
  const expiresAt = timestamp(new Date(now.getTime() + deps.agent.approvalExpiresMs));
  return { ...call, status: 'pending_approval', neededApproval: true, expiresAt };
}

const newCall = (
  { workspace, conversation }: LoadedTurn,
  { tool, stepId }: WantedInStep,
  stored: ResolvedCall['stored'],
  now: Date,
): ToolCall =>
  newToolCall(
    {
      ...stored,
      workspaceId: workspace.id,
      tool: tool.slice(0, 64).toWellFormed(),
      conversationId: conversation.id,
      purpose: 'agent',
      stepId,
      controlEpoch: conversation.controlEpoch,
      afterMessage: conversation.messageCount,
      isTold: false,
    },
    now,
  );

/** @param message why, for the model */
function refuseCall(call: ToolCall, message: string, now: Date): ToolCall {
  const error = { type: 'invalid_arguments', message } as const;
  return complete({ ...call, arguments: storableArguments(call.arguments), error }, 'failed', now);
}

/** Resolves a call with the tools and settings that this transaction reads. */
async function resolve(tx: Tx, turn: LoadedTurn, wanted: CheckedCall): Promise<ResolvedCall> {
  const { tool: name, arguments: given } = wanted;
  const builtIn = (await findBuiltInTools(tx, turn.workspace.id)).find(
    (each) => each.name === name,
  );
  if (builtIn) return resolveBuiltInCall(given, builtIn);
  const shown = turn.tools.find((each) => each.name === name);
  return resolveCall(wanted, shown ? await tx.tools.peek(shown.id) : null, shown, turn);
}

/** Removes arguments that are too large, or that hold a number that no store can keep. */
const storableArguments = (args: JsonObject): JsonObject =>
  brokenLimit(args, ARGUMENT_LIMITS) === null && !holdsInfinity(args) ? args : {};

/**
 * Guards against loops: the same call is made only once in a turn, and not again while it waits for
 * approval.
 * @returns why the call is not made, for the model; null when it is no repetition
 */
function repeatedCall(
  call: ToolCall,
  turn: LoadedTurn,
  before: readonly ToolCall[],
): string | null {
  if (turn.calls.some((other) => other.status === 'pending_approval' && isSameCall(other, call)))
    return 'The same call waits for approval already.';
  const isMade = (other: ToolCall) =>
    other.error?.type !== 'invalid_arguments' || other.attempts > 0;
  return [...callsOfTurn(turn), ...before].some((other) => isMade(other) && isSameCall(other, call))
    ? REPEATED_CALL
    : null;
}
