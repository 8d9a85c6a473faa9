import { isDeepStrictEqual } from 'node:util';
import {
  readPaymentLink,
  type BuiltInTool,
  compileParameters,
  type Tool,
  type ToolCall,
} from '../../tools/index.ts';
import type { PaymentLinkRequest } from '../../payments/index.ts';
import { isJsonObject, type JsonObject } from '../../platform/json.ts';
import { unmaskJson } from '../../platform/masking.ts';
import type { Bounds } from '../../platform/limits/bounds.ts';
import { loopShare, type LoopShare } from '../../platform/limits/loopShare.ts';
import type { WantedCall } from '../agentModel.ts';
import { MAX_TOOL_CALLS_PER_TURN } from '../agentSettings.ts';
import type { LoadedTurn } from './loadTurn.ts';

/** A call that the model wants: what is stored of it, and whether it can be made. */
export interface ResolvedCall {
  readonly stored: Pick<ToolCall, 'toolId' | 'kind' | 'provider' | 'definitionHash' | 'arguments'>;
  readonly askBeforeRunning: boolean;
  /** Why the call cannot be made, in a sentence for the model. Null when it can. */
  readonly problem: string | null;
  /** The payment link to make, if the call asks for one and it can be made. */
  readonly request?: PaymentLinkRequest;
}

/** A wanted call, checked with the parameters that the model saw. */
export interface CheckedCall extends WantedCall {
  /**
   * Why the arguments do not fit the tool's parameters. Null when they fit, and when they were not
   * checked: they are not an object, or the tool is built in or unknown.
   */
  readonly misfit: string | null;
}

/**
 * The most calls that are read from one step. Calls beyond a turn's limit are refused; calls beyond
 * this limit are ignored.
 */
const MAX_CALLS_OF_STEP = 2 * MAX_TOOL_CALLS_PER_TURN;

/**
 * Checks the arguments of custom tools' calls on the workspace's share of the event loop. Compiling and
 * checking a tool's parameters may take a quarter of a second, so this comes before the transaction
 * that stores the calls.
 * @param calls those of one step; the first `MAX_CALLS_OF_STEP` are checked and returned
 */
export async function checkCalls(
  turn: LoadedTurn,
  calls: readonly WantedCall[],
  bounds: Bounds,
  share: Pick<LoopShare, 'run'> = loopShare,
): Promise<readonly CheckedCall[]> {
  const check = async (call: WantedCall): Promise<CheckedCall> => {
    const tool = turn.tools.find(({ name }) => name === call.tool);
    const args = unmaskArguments(call.arguments, turn);
    if (tool === undefined || !isJsonObject(args)) return { ...call, misfit: null };
    const misfit = await share.run(turn.workspace.id, () =>
      compileParameters(tool.parameters).check(args, bounds),
    );
    return { ...call, misfit };
  };
  return Promise.all(calls.slice(0, MAX_CALLS_OF_STEP).map(check));
}

/** Whether two calls ask for the same thing. */
export const isSameCall = (
  a: Pick<WantedCall, 'tool' | 'arguments'>,
  b: Pick<WantedCall, 'tool' | 'arguments'>,
): boolean => a.tool === b.tool && isDeepStrictEqual(a.arguments, b.arguments);

/** Why a call that could be made is refused all the same, in sentences for the model. */
export const REPEATED_CALL = 'The same call was made already; use its result.';
export const TOO_MANY_CALLS = `No more than ${MAX_TOOL_CALLS_PER_TURN} calls are made for one message.`;

const unmaskArguments = (given: unknown, { contact }: LoadedTurn): unknown =>
  isJsonObject(given) ? unmaskJson(given as JsonObject, contact) : given;

/**
 * Resolves a call of a custom tool, which may not exist.
 * @param tool the tool as it is now
 * @param shown the tool as the model saw it
 */
export function resolveCall(
  { arguments: given, misfit }: CheckedCall,
  tool: Tool | null,
  shown: Tool | undefined,
  turn: LoadedTurn,
): ResolvedCall {
  const args = unmaskArguments(given, turn);
  return {
    stored: {
      toolId: tool?.id ?? null,
      kind: tool?.kind ?? 'Webhook',
      definitionHash: tool?.definitionHash ?? '',
      arguments: isJsonObject(args) ? (args as JsonObject) : {},
    },
    askBeforeRunning: tool?.askBeforeRunning ?? false,
    problem: problemOf(tool, shown, args, misfit),
  };
}

const NO_OBJECT = 'The arguments are not a JSON object.';

function problemOf(
  tool: Tool | null,
  shown: Tool | undefined,
  given: unknown,
  misfit: string | null,
): string | null {
  if (tool?.status !== 'live') return 'There is no such tool. Use one of those that are listed.';
  if (tool.definitionHash !== shown?.definitionHash)
    return 'The tool was changed a moment ago. Look at its parameters again.';
  return isJsonObject(given) ? misfit : NO_OBJECT;
}

/** Resolves a built-in call. Masked details stay masked: its texts appear on the payment page. */
export function resolveBuiltInCall(
  given: unknown,
  { provider, askBeforeRunning }: BuiltInTool,
): ResolvedCall {
  const stored = { toolId: null, kind: 'BuiltIn', provider, definitionHash: '' } as const;
  if (!isJsonObject(given))
    return { stored: { ...stored, arguments: {} }, askBeforeRunning, problem: NO_OBJECT };
  const read = readPaymentLink(given, provider);
  if (read.problem !== null)
    return { stored: { ...stored, arguments: given }, askBeforeRunning, problem: read.problem };
  const { arguments: args, problem, request } = read;
  return { stored: { ...stored, arguments: args }, askBeforeRunning, problem, request };
}
