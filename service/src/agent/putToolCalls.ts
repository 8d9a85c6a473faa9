import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '../domain/clock.ts';
import type { Tx } from '../domain/collections.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { Deps } from '../domain/deps.ts';
import { newId } from '../domain/ids.ts';
import { ARGUMENT_LIMITS } from '../domain/argumentLimits.ts';
import { brokenLimit, holdsInfinity, isJsonObject, type JsonObject } from '../domain/json.ts';
import { unmaskJson } from '../domain/masking.ts';
import { enqueueToolCall } from '../domain/operations/settleToolCall.ts';
import { compileParameters } from '../domain/parametersSchema.ts';
import type { Tool } from '../domain/tool.ts';
import { finish, newToolCall, type ToolCall } from '../domain/toolCall.ts';
import { MOST_TOOL_CALLS_A_TURN } from '../domain/agentTurn.ts';
import type { LoadedTurn } from './loadTurn.ts';

type Wanted = { readonly tool: string; readonly arguments: unknown };

/**
 * Puts the calls of one step on record: those that may run go into the work queue, those that a person
 * decides about wait, and those that cannot be made are told to the model, which may correct them.
 * @returns whether any of them runs now
 */
export async function putToolCalls(
  tx: Tx,
  deps: Deps,
  turn: LoadedTurn,
  conversation: Conversation,
  wanted: readonly Wanted[],
  now: Date,
): Promise<boolean> {
  const stepId = newId('step');
  const put: ToolCall[] = [];
  for (const each of wanted.slice(0, 2 * MOST_TOOL_CALLS_A_TURN)) {
    const call = await makeCall(tx, deps, turn, { ...each, stepId, beside: put }, now);
    put.push(call);
    await tx.toolCalls.put(call);
    if (call.status === 'running') await enqueueToolCall(tx, call, now.getTime());
    if (call.status === 'pending_approval') await enqueueToolCall(tx, call, Date.parse(call.expiresAt!));
  }
  const waiting = put.filter(({ status }) => status === 'pending_approval').length;
  if (waiting > 0) await tx.conversations.put({ ...conversation, pendingApprovals: conversation.pendingApprovals + waiting });
  return put.some(({ status }) => status === 'running');
}

async function makeCall(
  tx: Tx,
  { agent }: Deps,
  turn: LoadedTurn,
  { tool: name, arguments: given, stepId, beside }: Wanted & { stepId: string; beside: readonly ToolCall[] },
  now: Date,
): Promise<ToolCall> {
  const args = isJsonObject(given) ? unmaskJson(given as JsonObject, turn.contact) : given;
  const known = turn.tools.find((each) => each.name === name);
  const tool = known ? await tx.tools.get(known.id) : null;
  const asked = {
    workspaceId: turn.workspace.id,
    toolId: tool?.id ?? null,
    tool: name.slice(0, 64),
    kind: tool?.kind ?? 'Webhook',
    arguments: isJsonObject(args) ? args : {},
    conversationId: turn.conversation.id,
    purpose: 'agent',
    definitionHash: tool?.definitionHash ?? '',
    stepId,
    controlEpoch: turn.conversation.controlEpoch,
    afterMessage: turn.conversation.messageCount,
    isTold: false,
  } as const;
  const call = newToolCall(asked, now);
  const refuse = (message: string, isTold = false): ToolCall =>
    finish({ ...call, isTold, arguments: storable(call.arguments), error: { type: 'invalid_arguments', message } }, 'failed', now);
  const problem = problemOf(tool, known, args);
  if (problem !== null) return refuse(problem);
  const repeated = repeatedCall(call, turn, beside);
  if (repeated !== null) return refuse(repeated, true); // the customer hears of the call itself
  if (callsOfTurn(turn, beside).length >= MOST_TOOL_CALLS_A_TURN) return refuse(`No more than ${MOST_TOOL_CALLS_A_TURN} calls are made for one message.`);
  if (!tool?.askBeforeRunning) return call;
  const expiresAt = timestamp(new Date(now.getTime() + agent.approvalExpiresMs));
  return { ...call, status: 'pending_approval', neededApproval: true, expiresAt };
}

/** Arguments that were refused for their size, or for a number that no store can hold, are not kept either. */
const storable = (args: JsonObject): JsonObject => (brokenLimit(args, ARGUMENT_LIMITS) === null && !holdsInfinity(args) ? args : {});

/** Why the call cannot be made as it was asked for; null when it can. */
function problemOf(tool: Tool | null, shown: Tool | undefined, given: unknown): string | null {
  if (tool?.status !== 'live') return 'There is no such tool. Use one of those that are listed.';
  if (tool.definitionHash !== shown?.definitionHash) return 'The tool was changed a moment ago. Look at its parameters again.';
  return isJsonObject(given) ? compileParameters(tool.parameters).check(given) : 'The arguments are not a JSON object.';
}

const callsOfTurn = ({ calls, conversation }: LoadedTurn, beside: readonly ToolCall[]): readonly ToolCall[] => [
  ...calls.filter(({ afterMessage }) => afterMessage === conversation.messageCount),
  ...beside,
];

/** Guards against loops: not the same call twice in a turn, nor beside one that still waits. */
function repeatedCall(call: ToolCall, turn: LoadedTurn, beside: readonly ToolCall[]): string | null {
  const isSame = (other: ToolCall) => other.tool === call.tool && isDeepStrictEqual(other.arguments, call.arguments);
  if (turn.calls.some((other) => other.status === 'pending_approval' && isSame(other))) return 'The same call waits for approval already.';
  const isMade = (other: ToolCall) => other.error?.type !== 'invalid_arguments' || other.attempts > 0;
  return callsOfTurn(turn, beside).some((other) => isMade(other) && isSame(other)) ? 'The same call was made already; use its result.' : null;
}
