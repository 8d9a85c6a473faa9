import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError } from '../errorCatalogue.ts';
import type { JsonObject } from '../json.ts';
import { compileParameters } from '../parametersSchema.ts';
import type { Tool } from '../tool.ts';
import { newToolCall, type ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';
import { peekTool } from './loadTool.ts';
import { enqueueToolCall } from './settleToolCall.ts';

/**
 * Begins one real call of a tool from its definition; it runs as a live one does.
 * @throws invalid_request (400) when the arguments do not fit the parameters, not_found (404)
 * @see spec section 3, effect 4
 */
export const startTestCall = ({ store, clock }: Deps, workspace: Workspace, id: string, args: JsonObject) =>
  store.transaction(async (tx): Promise<ToolCall> => putTestCall(tx, await peekTool(tx, workspace, id), args, 'test', clock.now()));

/** @throws invalid_request (400) */
export async function putTestCall(tx: Tx, tool: Tool, args: JsonObject, purpose: 'test' | 'go_live', now: Date): Promise<ToolCall> {
  const problem = compileParameters(tool.parameters).check(args);
  if (problem !== null) throw new AppError('invalid_request', problem, { param: 'arguments' });
  const { workspaceId, id: toolId, name, kind, definitionHash } = tool;
  const asked = { workspaceId, toolId, tool: name, kind, arguments: args, conversationId: null, purpose, definitionHash };
  const call = newToolCall({ ...asked, stepId: null, controlEpoch: 0, afterMessage: 0, isTold: true }, now);
  await tx.toolCalls.put(call);
  await enqueueToolCall(tx, call, now.getTime());
  return call;
}
