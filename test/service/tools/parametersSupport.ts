// Parameters of tools, and what the service says of them.
import type { JsonObject } from '../../../service/src/platform/json.ts';
import { ParametersError } from '../../../service/src/platform/linearPattern.ts';
import { compileParameters } from '../../../service/src/tools/definition/parametersSchema.ts';

export const withProperties = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

/** Parameters with one property, `a`. */
export const withA = (schema: JsonObject | boolean): JsonObject => withProperties({ a: schema });

/** @returns null when the arguments fit, else the sentence that says why not */
export const check = (schema: JsonObject, args: unknown) => compileParameters(schema).check(args);

/** @returns why a schema is refused and where, or null when it is not */
export function refusal(schema: unknown): { param: string; message: string } | null {
  try {
    compileParameters(schema as JsonObject);
    return null;
  } catch (error) {
    if (!(error instanceof ParametersError)) throw error;
    return { param: error.param, message: error.message };
  }
}
