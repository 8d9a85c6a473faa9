import { readPaymentLink, type AskedPaymentLink, type BuiltInTool } from '../domain/builtInTools.ts';
import type { Deps } from '../domain/deps.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { unmaskJson } from '../domain/masking.ts';
import { compileParameters } from '../domain/parametersSchema.ts';
import type { Tool } from '../domain/tool.ts';
import type { ToolCall } from '../domain/toolCall.ts';
import type { Bounds } from '../limits/bounds.ts';
import type { LoadedTurn } from './loadTurn.ts';

/** What a wanted call means by the tools as they stand: what goes into its record, and whether it can be made. */
export interface ResolvedCall {
  readonly of: Pick<ToolCall, 'toolId' | 'kind' | 'provider' | 'definitionHash' | 'arguments'>;
  readonly askBeforeRunning: boolean;
  /** Why the call cannot be made as it was asked for, in a sentence for the model; null when it can. */
  readonly problem: string | null;
  /** A payment link that can be made as it was asked for. */
  readonly asked?: AskedPaymentLink;
}

/**
 * A call of a custom tool, or of one that is not there.
 * @param tool as it is now @param shown as the model saw it
 */
export function resolveCall(given: unknown, tool: Tool | null, shown: Tool | undefined, { contact }: LoadedTurn, bounds: Bounds): ResolvedCall {
  const args = isJsonObject(given) ? unmaskJson(given as JsonObject, contact) : given;
  return {
    of: { toolId: tool?.id ?? null, kind: tool?.kind ?? 'Webhook', definitionHash: tool?.definitionHash ?? '', arguments: isJsonObject(args) ? args : {} },
    askBeforeRunning: tool?.askBeforeRunning ?? false,
    problem: problemOf(tool, shown, args, bounds),
  };
}

function problemOf(tool: Tool | null, shown: Tool | undefined, given: unknown, bounds: Bounds): string | null {
  if (tool?.status !== 'live') return 'There is no such tool. Use one of those that are listed.';
  if (tool.definitionHash !== shown?.definitionHash) return 'The tool was changed a moment ago. Look at its parameters again.';
  return isJsonObject(given) ? compileParameters(tool.parameters).check(given, bounds) : 'The arguments are not a JSON object.';
}

/** A call of what is built in. Masked details stay masked: what stands in it is shown where the customer pays. */
export function resolveBuiltInCall(given: unknown, { provider, askBeforeRunning }: BuiltInTool, { payments }: Pick<Deps, 'payments'>): ResolvedCall {
  const read = isJsonObject(given) ? readPaymentLink(given, payments.rulesOf(provider)) : { problem: 'The arguments are not a JSON object.' };
  const args = read.problem === null ? read.arguments : isJsonObject(given) ? (given as JsonObject) : {};
  return { of: { toolId: null, kind: 'BuiltIn', provider, definitionHash: '', arguments: args }, askBeforeRunning, problem: read.problem, ...(read.problem === null ? { asked: read.asked } : {}) };
}
