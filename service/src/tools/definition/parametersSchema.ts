import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Bounds } from '../../platform/limits/bounds.ts';
import {
  brokenLimit,
  holdsInfinity,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../platform/json.ts';
import {
  LinearPatterns,
  PatternBudgetError,
  ParametersError,
} from '../../platform/linearPattern.ts';
import { expandReferences } from './schemaDocument.ts';
import { describeFault } from './schemaFaults.ts';

/**
 * Checks arguments against the `parameters` of a custom tool, a JSON Schema 2020-12. Neither the schema
 * nor the arguments, which a model writes, can be trusted, so the work for both is limited.
 */

const SCHEMA_LIMITS = { maxBytes: 32 * 1024, maxDepth: 32 };

/** Limits the schema's weight times the bytes of the arguments: to about a quarter of a second. */
const MAX_WORK = 10_000_000;

const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/**
 * Formats that ajv-formats checks badly: `url` takes quadratic time, `regex` compiles its text, and
 * `byte` reads one line only. Like an unknown format, each of them accepts any text.
 */
const UNCHECKED_FORMATS: ReadonlySet<string> = new Set(['url', 'regex', 'byte']);
const FORMATS = Object.fromEntries(
  Object.entries(fullFormats).filter(([name]) => !UNCHECKED_FORMATS.has(name)),
);

/** The same text for equal values, whatever the order of their keys. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`)
    .join(',')}}`;
}

const areUnique = (wanted: boolean, items: readonly Json[]) =>
  !wanted || new Set(items.map(canonical)).size === items.length;

/** Makes a validator with an ajv of its own, since ajv keeps all that it compiles. */
function createValidator(schema: JsonObject, patterns: LinearPatterns): ValidateFunction {
  const ajv = new Ajv2020({
    strict: false,
    verbose: true,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    ownProperties: true,
    multipleOfPrecision: 9,
    formats: FORMATS,
    code: { regExp: patterns.engine, optimize: false },
  });
  // ajv's own `uniqueItems` compares every pair of items.
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: areUnique,
    errors: false,
  });
  return ajv.compile(schema);
}

let metaValidator: Ajv2020 | undefined;

function assertMetaValid(schema: JsonObject): void {
  metaValidator ??= new Ajv2020({ strict: false, logger: false, formats: FORMATS });
  if (metaValidator.validateSchema(schema) === true) return;
  const { field, sentence } = describeFault('parameters', metaValidator.errors ?? []);
  throw new ParametersError(field, sentence);
}

function assertWithinLimits(schema: JsonObject): void {
  const broken = brokenLimit(schema, SCHEMA_LIMITS);
  if (broken === 'maxBytes')
    throw new ParametersError(
      'parameters',
      `parameters must take at most ${SCHEMA_LIMITS.maxBytes} bytes as JSON; shorten descriptions or simplify.`,
    );
  if (broken === 'maxDepth')
    throw new ParametersError(
      'parameters',
      `parameters must not be nested deeper than ${SCHEMA_LIMITS.maxDepth} levels; simplify.`,
    );
}

function assertDialect({ $schema }: JsonObject): void {
  if ($schema === undefined || (typeof $schema === 'string' && DIALECT.test($schema))) return;
  throw new ParametersError(
    'parameters.$schema',
    'parameters.$schema must be "https://json-schema.org/draft/2020-12/schema"; leave it out, or bring the schema to that version.',
  );
}

function assertDescribesObject({ type }: JsonObject): void {
  if (
    type === undefined ||
    type === 'object' ||
    (Array.isArray(type) && type.length === 1 && type[0] === 'object')
  )
    return;
  throw new ParametersError(
    'parameters.type',
    'parameters.type must be "object": a tool is given its arguments by name.',
  );
}

interface CompiledParameters {
  /**
   * Checks arguments; never changes them and never throws.
   * @param bounds is told when patterns take too long
   * @returns null when they fit, else a sentence that names the first field that does not
   */
  check(args: unknown, bounds?: Bounds): string | null;
}

function checkSize(args: unknown, weight: number): string | null {
  const broken = brokenLimit(args, ARGUMENT_LIMITS);
  if (broken === 'maxBytes')
    return `arguments must take at most ${ARGUMENT_LIMITS.maxBytes} bytes as JSON.`;
  if (broken === 'maxDepth')
    return `arguments must not be nested deeper than ${ARGUMENT_LIMITS.maxDepth} levels.`;
  if (holdsInfinity(args)) return 'arguments must not contain a number larger than 1.8e308.';
  return brokenLimit(args, { ...ARGUMENT_LIMITS, maxBytes: Math.floor(MAX_WORK / weight) }) === null
    ? null
    : 'arguments are too large for parameters with so many rules; send less.';
}

function checkWith(
  validate: ValidateFunction,
  weight: number,
  patterns: LinearPatterns,
  args: unknown,
  bounds?: Bounds,
): string | null {
  patterns.refill();
  try {
    return (
      checkSize(args, weight) ??
      (validate(args) ? null : describeFault('arguments', validate.errors ?? []).sentence)
    );
  } catch (error) {
    if (error instanceof PatternBudgetError) bounds?.reached('pattern_work');
    return error instanceof PatternBudgetError
      ? `arguments could not be checked: ${error.message}`
      : 'arguments could not be checked; send fewer and simpler ones.';
  } finally {
    // The errors would keep the arguments in memory.
    validate.errors = null;
  }
}

function compile(schema: JsonObject): CompiledParameters {
  assertDialect(schema);
  assertWithinLimits(schema);
  assertMetaValid(schema);
  assertDescribesObject(schema);
  const patterns = new LinearPatterns();
  const expanded = expandReferences(schema, patterns);
  const validate = createValidator({ ...expanded.schema, type: 'object' }, patterns);
  // The JavaScript engine compiles the code at the first call. Should that fail, it fails here and not
  // in a customer's conversation.
  patterns.refill();
  validate({});
  return { check: (args, bounds) => checkWith(validate, expanded.weight, patterns, args, bounds) };
}

/**
 * What was compiled, by the schema object of a document, which never changes in place. The embedded
 * store always returns the same object; PostgreSQL returns a new one for each read.
 */
const compiled = new WeakMap<JsonObject, CompiledParameters>();

/**
 * Compiles the schema of a tool's arguments. A `$ref` may point into the same schema, without loops. A
 * `pattern` uses RE2 syntax. Unknown keywords and formats are ignored, as in JSON Schema.
 * @throws ParametersError
 */
export function compileParameters(schema: JsonObject): CompiledParameters {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const parameters = compileOrRefuse(schema);
  compiled.set(schema, parameters);
  return parameters;
}

function compileOrRefuse(schema: JsonObject): CompiledParameters {
  if (!isJsonObject(schema))
    throw new ParametersError(
      'parameters',
      'parameters must be a JSON Schema, like {"type":"object","properties":{}}.',
    );
  try {
    return compile(schema);
  } catch (error) {
    if (error instanceof ParametersError) throw error;
    throw new ParametersError(
      'parameters',
      'parameters could not be read as a JSON Schema; simplify them.',
      { cause: error },
    );
  }
}

/** Limits for the arguments of a tool call as JSON. They are checked before anything else. */
export const ARGUMENT_LIMITS = { maxBytes: 64 * 1024, maxDepth: 32 } as const;
