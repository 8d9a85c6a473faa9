import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError } from '../errorCatalogue.ts';
import { newId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { compileParameters } from '../parametersSchema.ts';
import type { Tool } from '../tool.ts';
import type { ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';
import { loadTool } from './loadTool.ts';
import { enqueueToolCall } from './settleToolCall.ts';

/**
 * Begins one real call of a tool from its definition; it runs as a live one does.
 * @throws invalid_request (400) when the arguments do not fit the parameters, not_found (404)
 * @see spec section 3, effect 4
 */
export const startTestCall = ({ store, clock }: Deps, workspace: Workspace, id: string, args: JsonObject) =>
  store.transaction(async (tx): Promise<ToolCall> => putTestCall(tx, await loadTool(tx, workspace, id), args, 'test', clock.now()));

/** @throws invalid_request (400) */
export async function putTestCall(tx: Tx, tool: Tool, args: JsonObject, purpose: 'test' | 'go_live', now: Date): Promise<ToolCall> {
  const problem = compileParameters(tool.parameters).check(args);
  if (problem !== null) throw new AppError('invalid_request', problem, { param: 'arguments' });
  const call: ToolCall = {
    id: newId('call'),
    workspaceId: tool.workspaceId,
    toolId: tool.id,
    tool: tool.name,
    kind: tool.kind,
    arguments: args,
    conversationId: null,
    purpose,
    definitionHash: tool.definitionHash,
    stepId: null,
    controlEpoch: 0,
    afterMessage: 0,
    status: 'running',
    attempts: 0,
    isUnderWay: false,
    httpStatus: null,
    durationMs: 0,
    resultJson: null,
    hasLargeResult: false,
    error: null,
    neededApproval: false,
    decision: null,
    expiresAt: null,
    isTold: true,
    createdAt: timestamp(now),
    finishedAt: null,
  };
  await tx.toolCalls.put(call);
  await enqueueToolCall(tx, call, now.getTime());
  return call;
}
