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
import { enqueueToolCall } from './enqueueToolCall.ts';

/** The arguments of a test call, and the definition that they were checked against. */
export interface TestArguments {
  readonly args: JsonObject;
  readonly definitionHash: string | null;
}

/**
 * Begins one real call of a tool from its definition. It runs as a live one does.
 * @throws invalid_request (400) when the arguments do not fit the parameters, not_found (404),
 * rate_limited (429) when too many checks wait
 */
export async function startTestCall(
  deps: Deps,
  workspace: Workspace,
  id: string,
  args: JsonObject,
): Promise<ToolCall> {
  const known = await deps.store.transaction((tx) => peekTool(tx, workspace, id));
  const checked = await checkTestArguments(deps, workspace, known, args);
  return deps.store.transaction(async (tx) => {
    const tool = await peekTool(tx, workspace, id);
    return putTestCall(tx, tool, checked, 'test', deps.clock.now());
  });
}

/**
 * Checks the arguments of a test call on the workspace's share of the event loop.
 * @param param what an error calls the arguments
 * @throws invalid_request (400), rate_limited (429) when too many checks wait
 */
export async function checkTestArguments(
  { bounds }: Deps,
  workspace: Workspace,
  tool: Pick<Tool, 'parameters' | 'definitionHash'>,
  args: JsonObject,
  param = 'arguments',
): Promise<TestArguments> {
  await checkInTurn(workspace, bounds, () => assertFits(tool, args, param, bounds));
  return { args, definitionHash: tool.definitionHash };
}

function assertFits(
  { parameters }: Pick<Tool, 'parameters'>,
  args: JsonObject,
  param: string,
  bounds?: Bounds,
): void {
  const problem = compileParameters(parameters).check(args, bounds);
  if (problem !== null) throw new AppError('invalid_request', problem, { param });
}

/** @throws invalid_request (400) when the tool has changed, and the arguments do not fit it now */
export async function putTestCall(
  tx: Tx,
  tool: Tool,
  { args, definitionHash: checkedFor }: TestArguments,
  purpose: 'test' | 'go_live',
  now: Date,
): Promise<ToolCall> {
  if (tool.definitionHash !== checkedFor) assertFits(tool, args, 'arguments');
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
