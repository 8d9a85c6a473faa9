import { deadlineAfter } from '../platform/async/deadline.ts';
import type { Deps } from '../platform/deps.ts';
import { findBuiltInTools, findAgentSettings } from './operations/settings.ts';
import { findLiveTools } from '../tools/index.ts';
import type { Workspace } from '../team/index.ts';
import type { AgentModel } from './agentModel.ts';
import { MAX_TOOL_CALLS_PER_TURN } from './agentSettings.ts';
import { inventConversation } from './inventedConversation.ts';
import { decideTurn, type Outcome, type Spoken } from './turn/decideTurn.ts';
import type { LoadedTurn } from './turn/loadTurn.ts';
import { replyText } from './turn/replyText.ts';
import {
  checkCalls,
  isSameCall,
  REPEATED_CALL,
  resolveBuiltInCall,
  resolveCall,
  TOO_MANY_CALLS,
  type CheckedCall,
} from './turn/wantedCall.ts';

/** What the agent would do about a customer's first message. */
export type TriedStep =
  | Spoken
  | {
      readonly type: 'tool_calls';
      readonly calls: readonly TriedCall[];
      readonly qualify: boolean;
    };

export interface TriedCall {
  readonly tool: string;
  readonly arguments: unknown;
  /** A person would have to approve the call. */
  readonly needsApproval: boolean;
  /** Why the call would not be made; null when it would. */
  readonly problem: string | null;
}

/**
 * Lets the agent decide its step after a made-up first message. It knows the live tools but calls
 * none of them: only the model is called, and nothing is stored.
 * @param options.signal aborts the call to the model
 * @returns `hand_over`, with the reason in `note`, when the model fails
 * @throws the signal's reason
 */
export async function tryAgent(
  deps: Deps,
  model: AgentModel,
  workspace: Workspace,
  text: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<TriedStep> {
  const turn = await inventTurn(deps, workspace, text);
  using deadline = deadlineAfter(timeoutMs);
  const outcome = await decideTurn(turn, model, {
    now: deps.clock.now(),
    signal,
    modelSignal: AbortSignal.any([signal, deadline.signal]),
  });
  const isTooLate =
    outcome.type === 'hand_over' && outcome.reason === 'agent_error' && deadline.signal.aborted;
  return toTriedStep(
    deps,
    turn,
    isTooLate
      ? { ...outcome, note: `The model did not answer within ${timeoutMs / 1000} s.` }
      : outcome,
  );
}

/** A turn about the first message of a new visitor without a name. */
const inventTurn = (deps: Deps, workspace: Workspace, text: string) =>
  deps.store.transaction(async (tx): Promise<LoadedTurn> => {
    const { message, ...invented } = inventConversation(workspace, text, deps.clock.now());
    return {
      ...invented,
      number: 1,
      settings: await findAgentSettings(tx, workspace.id),
      messages: [message],
      calls: [],
      untold: [],
      mayAnswer: true,
      mayClose: true,
      unanswered: [message],
      repliedAt: [],
      tools: await findLiveTools(tx, workspace.id),
      builtIn: await findBuiltInTools(tx, workspace.id),
    };
  });

async function toTriedStep(deps: Deps, turn: LoadedTurn, outcome: Outcome): Promise<TriedStep> {
  // A workflow is tried in another way: see webhook/.
  if (outcome.type === 'deferred') throw new Error('A workflow cannot be tried like a model.');
  if (outcome.type !== 'tool_calls') return { ...outcome, text: replyText(turn, outcome) };
  const calls: TriedCall[] = [];
  for (const call of await checkCalls(turn, outcome.calls, deps.bounds))
    calls.push(toTriedCall(turn, call, calls));
  return { ...outcome, calls };
}

/** @param before the step's calls before this one */
function toTriedCall(turn: LoadedTurn, call: CheckedCall, before: readonly TriedCall[]): TriedCall {
  const { tool: name, arguments: args, needsApproval = false } = call;
  const builtIn = turn.builtIn.find((each) => each.name === name);
  const tool = turn.tools.find((each) => each.name === name);
  const resolved = builtIn
    ? resolveBuiltInCall(args, builtIn)
    : resolveCall(call, tool ?? null, tool, turn);
  return {
    tool: name,
    arguments: args,
    needsApproval: resolved.askBeforeRunning || needsApproval,
    problem: resolved.problem ?? problemInStep(call, before),
  };
}

/** Why a step does not make a call that could be made; null when it does. */
function problemInStep(call: CheckedCall, before: readonly TriedCall[]): string | null {
  if (before.some((other) => other.problem === null && isSameCall(other, call)))
    return REPEATED_CALL;
  return before.length >= MAX_TOOL_CALLS_PER_TURN ? TOO_MANY_CALLS : null;
}
