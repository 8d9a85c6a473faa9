import type { Bounds } from '../../limits/bounds.ts';
import { checkInTurn } from '../checkInTurn.ts';
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
export async function startTestCall(
  deps: Deps,
  workspace: Workspace,
  id: string,
  args: JsonObject,
): Promise<ToolCall> {
  const checkedFor = await checkTestArguments(deps, workspace, id, args);
  return deps.store.transaction(async (tx) =>
    putTestCall(
      tx,
      await peekTool(tx, workspace, id),
      { args, checkedFor },
      'test',
      deps.clock.now(),
    ),
  );
}

/**
 * Checks the arguments of a test call on the share of the event loop that such work has.
 * @returns the hash of the definition that they fit
 * @throws invalid_request (400), not_found (404), rate_limited (429) when too many checks wait
 */
export async function checkTestArguments(
  { store, bounds }: Deps,
  workspace: Workspace,
  id: string,
  args: JsonObject,
): Promise<string> {
  const tool = await store.transaction((tx) => peekTool(tx, workspace, id));
  await checkInTurn(workspace, bounds, () => assertFits(tool, args, bounds));
  return tool.definitionHash;
}

function assertFits(tool: Tool, args: JsonObject, bounds?: Bounds): void {
  const problem = compileParameters(tool.parameters).check(args, bounds);
  if (problem !== null) throw new AppError('invalid_request', problem, { param: 'arguments' });
}

/**
 * @param checked the arguments, and the hash of the definition that they were found to fit
 * @throws invalid_request (400)
 */
export async function putTestCall(
  tx: Tx,
  tool: Tool,
  { args, checkedFor }: { readonly args: JsonObject; readonly checkedFor: string },
  purpose: 'test' | 'go_live',
  now: Date,
): Promise<ToolCall> {
  if (tool.definitionHash !== checkedFor) assertFits(tool, args); // changed a moment ago
  const { workspaceId, id: toolId, name, kind, definitionHash } = tool;
  const asked = {
    workspaceId,
    toolId,
    tool: name,
    kind,
    arguments: args,
    conversationId: null,
    purpose,
    definitionHash,
  };
  const call = newToolCall(
    { ...asked, stepId: null, controlEpoch: 0, afterMessage: 0, isTold: true },
    now,
  );
  await tx.toolCalls.put(call);
  await enqueueToolCall(tx, call, now.getTime());
  return call;
}
