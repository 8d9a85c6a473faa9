import type { Bounds } from '../../platform/limits/bounds.ts';
import { checkInTurn } from '../definition/checkDefinition.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, errorWithFix } from '../../platform/http/errorCatalogue.ts';
import type { JsonObject } from '../../platform/json.ts';
import { compileParameters } from '../definition/parametersSchema.ts';
import { goLive, type Tool } from '../tool.ts';
import { newToolCall, type ToolCall } from '../calls/toolCall.ts';
import type { Workspace } from '../../team/index.ts';
import { enqueueToolCall } from './toolCalls.ts';
import { peekTool, loadTool } from './tools.ts';

export interface TestArguments {
  readonly args: JsonObject;
  /** The definition that the arguments were checked against; null when they were not checked. */
  readonly definitionHash: string | null;
}

/**
 * Starts a test call: a real call of the tool, made in the same way as the agent's.
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

/** @throws invalid_request (400) when the tool has changed and the arguments no longer fit */
async function putTestCall(
  tx: Tx,
  tool: Tool,
  { args, definitionHash: checkedFor }: TestArguments,
  purpose: 'test' | 'go_live',
  now: Date,
): Promise<ToolCall> {
  if (tool.definitionHash !== checkedFor) assertFits(tool, args, 'arguments');
  const { workspaceId, id: toolId, name, kind, definitionHash } = tool;
  const call = newToolCall(
    {
      workspaceId,
      toolId,
      tool: name,
      kind,
      arguments: args,
      conversationId: null,
      purpose,
      definitionHash,
      stepId: null,
      controlEpoch: 0,
      afterMessage: 0,
      isTold: true,
    },
    now,
  );
  await tx.toolCalls.put(call);
  await enqueueToolCall(tx, call, now.getTime());
  return call;
}

/**
 * Lets the agent call a tool: at once when this definition was tested, else as soon as a test call
 * with `args` has succeeded. This operation only starts that call.
 * @throws tool_not_tested (409) without a successful test and without arguments; invalid_request
 * (400), not_found (404)
 */
export async function goLiveWithTool(
  deps: Deps,
  workspace: Workspace,
  id: string,
  args: JsonObject | undefined,
): Promise<Tool> {
  const { store, clock } = deps;
  const known = await store.transaction((tx) => peekTool(tx, workspace, id));
  const isTestNeeded = known.testedAt === null && args !== undefined;
  const checked = isTestNeeded ? await checkTestArguments(deps, workspace, known, args) : null;
  return store.transaction(async (tx): Promise<Tool> => {
    const now = clock.now();
    const tool = await loadTool(tx, workspace, id);
    if (tool.testedAt !== null) return putLive(tx, tool, now);
    if (args === undefined) {
      throw errorWithFix('tool_not_tested', 'No call of this definition has succeeded yet.');
    }
    return testThenGoLive(tx, tool, checked ?? { args, definitionHash: null }, now);
  });
}

export async function putLive(tx: Tx, tool: Tool, now: Date): Promise<Tool> {
  const live = goLive(tool, now);
  await tx.tools.put(live);
  return live;
}

/** Starts a test call; the tool goes live when it succeeds. Until then, it is a draft. */
export async function testThenGoLive(
  tx: Tx,
  tool: Tool,
  args: TestArguments,
  now: Date,
): Promise<Tool> {
  const call = await putTestCall(tx, tool, args, 'go_live', now);
  const awaiting: Tool = { ...tool, status: 'draft', goLiveCallId: call.id };
  await tx.tools.put(awaiting);
  return awaiting;
}
