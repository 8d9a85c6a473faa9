import {
  readPaymentLink,
  type AskedPaymentLink,
  type BuiltInTool,
} from '../domain/builtInTools.ts';
import type { Deps } from '../domain/deps.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { unmaskJson } from '../domain/masking.ts';
import { compileParameters } from '../domain/parametersSchema.ts';
import type { Tool } from '../domain/tool.ts';
import type { ToolCall } from '../domain/toolCall.ts';
import type { Bounds } from '../limits/bounds.ts';
import { loopShare, type LoopShare } from '../limits/loopShare.ts';
import type { WantedCall } from './agentModel.ts';
import type { LoadedTurn } from './loadTurn.ts';

/**
 * What a wanted call means by the tools as they stand: what goes into its record, and whether it
 * can be made.
 */
export interface ResolvedCall {
  readonly of: Pick<ToolCall, 'toolId' | 'kind' | 'provider' | 'definitionHash' | 'arguments'>;
  readonly askBeforeRunning: boolean;
  /**
   * Why the call cannot be made as it was asked for, in a sentence for the model; null when it can.
   */
  readonly problem: string | null;
  /** A payment link that can be made as it was asked for. */
  readonly asked?: AskedPaymentLink;
}

/** A wanted call, looked at as the model saw the tools. */
export interface CheckedCall extends WantedCall {
  /**
   * Why its arguments do not fit the parameters of the custom tool; null when they do, and for
   * other calls.
   */
  readonly misfit: string | null;
}

/**
 * Checks the arguments of calls of custom tools on the workspace's share of the event loop:
 * compiling a tool's parameters, and what they ask of arguments, may take a quarter of a second. So
 * it is done before the transaction that puts the calls on record.
 */
export async function checkCalls(
  turn: LoadedTurn,
  calls: readonly WantedCall[],
  bounds: Bounds,
  share: Pick<LoopShare, 'run'> = loopShare,
): Promise<readonly CheckedCall[]> {
  const check = async (call: WantedCall): Promise<CheckedCall> => {
    const tool = turn.tools.find(({ name }) => name === call.tool);
    const args = unmasked(call.arguments, turn);
    if (tool === undefined || !isJsonObject(args)) return { ...call, misfit: null };
    const misfit = await share.run(turn.workspace.id, () =>
      compileParameters(tool.parameters).check(args, bounds),
    );
    return { ...call, misfit };
  };
  return Promise.all(calls.map(check));
}

const unmasked = (given: unknown, { contact }: LoadedTurn): unknown =>
  isJsonObject(given) ? unmaskJson(given as JsonObject, contact) : given;

/**
 * A call of a custom tool, or of one that is not there.
 * @param tool as it is now @param shown as the model saw it
 */
export function resolveCall(
  { arguments: given, misfit }: CheckedCall,
  tool: Tool | null,
  shown: Tool | undefined,
  turn: LoadedTurn,
): ResolvedCall {
  const args = unmasked(given, turn);
  return {
    of: {
      toolId: tool?.id ?? null,
      kind: tool?.kind ?? 'Webhook',
      definitionHash: tool?.definitionHash ?? '',
      arguments: isJsonObject(args) ? (args as JsonObject) : {},
    },
    askBeforeRunning: tool?.askBeforeRunning ?? false,
    problem: problemOf(tool, shown, args, misfit),
  };
}

function problemOf(
  tool: Tool | null,
  shown: Tool | undefined,
  given: unknown,
  misfit: string | null,
): string | null {
  if (tool?.status !== 'live') return 'There is no such tool. Use one of those that are listed.';
  if (tool.definitionHash !== shown?.definitionHash)
    return 'The tool was changed a moment ago. Look at its parameters again.';
  return isJsonObject(given) ? misfit : 'The arguments are not a JSON object.';
}

/**
 * A call of what is built in. Masked details stay masked: what stands in it is shown where the
 * customer pays.
 */
export function resolveBuiltInCall(
  given: unknown,
  { provider, askBeforeRunning }: BuiltInTool,
  { payments }: Pick<Deps, 'payments'>,
): ResolvedCall {
  const read = isJsonObject(given)
    ? readPaymentLink(given, payments.rulesOf(provider))
    : { problem: 'The arguments are not a JSON object.' };
  const args =
    read.problem === null ? read.arguments : isJsonObject(given) ? (given as JsonObject) : {};
  return {
    of: { toolId: null, kind: 'BuiltIn', provider, definitionHash: '', arguments: args },
    askBeforeRunning,
    problem: read.problem,
    ...(read.problem === null ? { asked: read.asked } : {}),
  };
}
