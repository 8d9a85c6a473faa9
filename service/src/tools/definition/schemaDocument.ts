import { isJsonObject, ownField, type Json, type JsonObject } from '../../platform/json.ts';
import { ParametersError, type LinearPatterns } from '../../platform/linearPattern.ts';
import { shorten } from '../../platform/shorten.ts';

/**
 * Reads a JSON Schema 2020-12 document: the schemas in it, where references lead, and a copy without
 * references for the validator. We do not use @apidevtools/json-schema-ref-parser, because it is
 * asynchronous and reads files and URLs, nor Ajv's references, because Ajv accepts loops and sets
 * no limit on the work.
 */

export type Path = readonly string[];

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const SINGLE = [
  'additionalProperties',
  'propertyNames',
  'items',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];
const SUBSCHEMA_KEYWORDS: ReadonlySet<string> = new Set([...SINGLE, ...LISTS, ...MAPS]);

/** Keywords that hold schemas for others to refer to. */
const DEFINITIONS = ['$defs', 'definitions'];

/** Keywords that check a value by themselves. A keyword in none of these lists checks nothing. */
const ASSERTIONS = [
  'type',
  'enum',
  'const',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'format',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxContains',
  'minContains',
  'maxProperties',
  'minProperties',
  'required',
  'dependentRequired',
];

const USE_REF =
  'is not supported; use a $ref to a place in the same schema, like "#/$defs/address".';

const REFUSED: Readonly<Record<string, string>> = {
  $dynamicRef: USE_REF,
  $recursiveRef: USE_REF,
  dependencies: 'belongs to an older JSON Schema; use dependentRequired or dependentSchemas.',
};

const MAX_WRITTEN_CHARACTERS = 300;

/** `parameters.properties.date`, shortened where names are very long. */
function formatPath(path: Path): string {
  const text = ['parameters', ...path].join('.');
  return shorten(text, MAX_WRITTEN_CHARACTERS);
}

const fail = (path: Path, what: string): never => {
  throw new ParametersError(formatPath(path), `${formatPath(path)} ${what}`);
};

type Subschema = readonly [path: Path, schema: Json];

const inList = (value: Json | undefined, path: Path): Subschema[] =>
  Array.isArray(value)
    ? value.map((item: Json, index): Subschema => [[...path, String(index)], item])
    : [];
const inMap = (value: Json | undefined, path: Path): Subschema[] =>
  isJsonObject(value)
    ? Object.entries(value).map(([name, item]): Subschema => [[...path, name], item])
    : [];

/** The schemas directly inside a schema. */
const schemasIn = (schema: JsonObject, path: Path): Subschema[] => [
  ...appliedIn(schema, path),
  ...DEFINITIONS.flatMap((key) => inMap(ownField(schema, key), [...path, key])),
];

/** The schemas directly inside a schema that apply to a value, unlike mere definitions. */
const appliedIn = (schema: JsonObject, path: Path): Subschema[] => [
  ...SINGLE.filter((key) => Object.hasOwn(schema, key)).map(
    (key): Subschema => [[...path, key], schema[key]!],
  ),
  ...LISTS.flatMap((key) => inList(ownField(schema, key), [...path, key])),
  ...MAPS.flatMap((key) => inMap(ownField(schema, key), [...path, key])),
];

const keyOf = (path: Path) => JSON.stringify(path);

/** Every schema of a document by its path. A `$ref` may lead only to these, the checked ones. */
type Places = ReadonlyMap<string, Json>;

function collectPlaces(root: JsonObject): Map<string, Json> {
  const places = new Map<string, Json>();
  const open: Subschema[] = [[[], root]];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const [path, schema] = place;
    places.set(keyOf(path), schema);
    if (isJsonObject(schema)) open.push(...schemasIn(schema, path));
  }
  return places;
}

/** Reads a pointer into the document: `#/$defs/a~1b` is `['$defs', 'a/b']`. Null for others. */
function readPointer(ref: string): Path | null {
  if (ref === '#') return [];
  if (!ref.startsWith('#/')) return null;
  try {
    return ref
      .slice(2)
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return null;
  }
}

/** The value that a local `$ref` names; undefined when there is none. */
export function resolveReference(root: JsonObject, ref: string): Json | undefined {
  const path = readPointer(ref);
  if (path === null) return undefined;
  let value: Json | undefined = root;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

const REF_RULE =
  'must be a place in the same schema, like "#/$defs/address"; other documents and anchors are not read.';

/** The schema that a `$ref` leads to. @throws ParametersError */
function followRef(ref: string, places: Places, path: Path): Subschema {
  const at = [...path, '$ref'];
  const target = readPointer(ref) ?? fail(at, REF_RULE);
  const schema = places.get(keyOf(target));
  return schema === undefined
    ? fail(
        at,
        `points to ${JSON.stringify(shorten(ref, 80))}, where there is no schema; define it in $defs.`,
      )
    : [target, schema];
}

function assertAllowedNames(schema: JsonObject, path: Path): void {
  for (const [keyword, why] of Object.entries(REFUSED))
    if (Object.hasOwn(schema, keyword)) fail([...path, keyword], why);
  if (path.length > 0 && Object.hasOwn(schema, '$id'))
    fail([...path, '$id'], 'is not supported inside a schema; leave it out and refer by place.');
  const properties = ownField(schema, 'properties');
  if (isJsonObject(properties) && Object.hasOwn(properties, '__proto__'))
    fail(
      [...path, 'properties', '__proto__'],
      'cannot be the name of a parameter; choose another.',
    );
}

function addPatterns(patterns: LinearPatterns, schema: JsonObject, path: Path): void {
  const pattern = ownField(schema, 'pattern');
  if (typeof pattern === 'string') patterns.add(pattern, formatPath([...path, 'pattern']));
  const byPattern = ownField(schema, 'patternProperties');
  if (isJsonObject(byPattern))
    for (const name of Object.keys(byPattern))
      patterns.add(name, formatPath([...path, 'patternProperties', name]));
}

const refOf = (schema: JsonObject): string | null => {
  const ref = ownField(schema, '$ref');
  return typeof ref === 'string' ? ref : null;
};

/** Follows each schema to all that it leads to. Reaching one that is being followed is a loop. */
function assertNoLoops(places: Places): void {
  const following = new Set<string>();
  const done = new Set<string>();
  const follow = ([path, schema]: Subschema): void => {
    const key = keyOf(path);
    if (done.has(key) || !isJsonObject(schema)) return;
    if (following.has(key))
      fail(
        path,
        'refers back to itself through $ref; the schema must end. Write out as many levels as you need.',
      );
    following.add(key);
    const ref = refOf(schema);
    for (const place of appliedIn(schema, path)) follow(place);
    if (ref !== null) follow(followRef(ref, places, path));
    following.delete(key);
    done.add(key);
  };
  for (const [key, schema] of places) follow([JSON.parse(key) as Path, schema]);
}

/** Limits, because the validator compiles each schema into code. */
const MAX_EXPANDED_SCHEMAS = 1_000;
const MAX_EXPANDED_DEPTH = 64;

interface Expansion {
  readonly places: Places;
  schemas: number;
  /** An upper bound of the validator's work for each byte of a value. */
  weight: number;
}

/** Counts a value and every value inside it. */
function countValues(value: Json | undefined): number {
  if (value === undefined) return 0;
  return typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, item) => sum + countValues(item as Json), 1)
    : 1;
}

function countIn(expansion: Expansion, schema: Json, path: Path, depth: number): void {
  expansion.schemas += 1;
  if (expansion.schemas > MAX_EXPANDED_SCHEMAS)
    fail(
      path,
      `makes the schema too large: with every $ref written out it has more than ${MAX_EXPANDED_SCHEMAS} parts. Simplify it.`,
    );
  if (depth > MAX_EXPANDED_DEPTH)
    fail(
      path,
      `is nested too deeply: with every $ref written out there are more than ${MAX_EXPANDED_DEPTH} levels. Simplify it.`,
    );
  expansion.weight += isJsonObject(schema)
    ? 1 +
      countValues(ownField(schema, 'enum')) +
      countValues(ownField(schema, 'const')) +
      countValues(ownField(schema, 'required'))
    : 1;
}

/** Copies a schema with known keywords only and each reference replaced by its target. */
function expand(expansion: Expansion, [path, schema]: Subschema, depth: number): Json {
  countIn(expansion, schema, path, depth);
  if (!isJsonObject(schema)) return schema;
  const copy = expandKeywords(expansion, schema, path, depth);
  const ref = refOf(schema);
  if (ref === null) return copy;
  const referred = expand(expansion, followRef(ref, expansion.places, path), depth + 1);
  return { ...copy, allOf: [...((ownField(copy, 'allOf') as Json[] | undefined) ?? []), referred] };
}

function expandKeywords(
  expansion: Expansion,
  schema: JsonObject,
  path: Path,
  depth: number,
): JsonObject {
  const inner = (subschema: Subschema) => expand(expansion, subschema, depth + 1);
  const entries = Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
    if (ASSERTIONS.includes(key)) return [[key, value]];
    if (!SUBSCHEMA_KEYWORDS.has(key)) return [];
    const at = [...path, key];
    if (Array.isArray(value)) return [[key, inList(value, at).map(inner)]];
    if (!MAPS.includes(key)) return [[key, inner([at, value])]];
    const byName = inMap(value, at).map((each) => [each[0].at(-1)!, inner(each)] as const);
    return [[key, Object.fromEntries(byName)]];
  });
  return Object.fromEntries(entries);
}

/**
 * Copies a schema and leaves out its references and annotations. The schema has to be valid by the
 * meta-schema.
 * @param patterns receives every pattern of the schema
 * @returns `schema` and its `weight`, an upper bound of the work to check one byte of a value
 * @throws ParametersError for unsupported keywords, patterns that are not RE2, references that lead
 * nowhere, to another document or in a loop, and a schema that is too large when expanded
 */
export function expandReferences(
  root: JsonObject,
  patterns: LinearPatterns,
): { schema: JsonObject; weight: number } {
  const places = collectPlaces(root);
  for (const [key, schema] of places) {
    if (!isJsonObject(schema)) continue;
    const path = JSON.parse(key) as Path;
    assertAllowedNames(schema, path);
    addPatterns(patterns, schema, path);
    const ref = refOf(schema);
    if (ref !== null) followRef(ref, places, path);
  }
  assertNoLoops(places);
  const expansion: Expansion = { places, schemas: 0, weight: 0 };
  const schema = expand(expansion, [[], root], 1) as JsonObject;
  return { schema, weight: expansion.weight };
}

/** The schemas that check the same value as `schema`: itself, its `$ref`, its `allOf` and the like. */
function schemasOfSameValue(schema: Json, root: JsonObject): JsonObject[] {
  const found = new Set<JsonObject>();
  const open: (Json | undefined)[] = [schema];
  while (open.length > 0) {
    const next = open.pop();
    if (!isJsonObject(next) || found.has(next)) continue;
    found.add(next);
    const ref = refOf(next);
    if (ref !== null) open.push(resolveReference(root, ref));
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      const schemas = ownField(next, key);
      if (Array.isArray(schemas)) open.push(...(schemas as Json[]));
    }
    open.push(ownField(next, 'then'), ownField(next, 'else'));
    const dependent = ownField(next, 'dependentSchemas');
    if (isJsonObject(dependent)) open.push(...Object.values(dependent));
  }
  return [...found];
}

const mayBeObject = (schema: JsonObject) => {
  const type = ownField(schema, 'type');
  return (
    type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
  );
};

/**
 * Returns a function that tells whether arguments of this schema can have a field at a path, such as
 * `['address', 'city']`. The root can have only the fields that it lists. An inner object that
 * lists no fields can have any.
 */
export function fieldFinder(root: JsonObject): (path: Path) => boolean {
  const start = schemasOfSameValue(root, root);
  return (path) => {
    let schemas = start;
    for (const [level, name] of path.entries()) {
      const listing = schemas.filter((schema) => isJsonObject(ownField(schema, 'properties')));
      if (listing.length === 0) return level > 0 && schemas.every(mayBeObject);
      const fields = listing
        .map((schema) => ownField(schema['properties'] as JsonObject, name))
        .filter((field) => field !== undefined && field !== false);
      if (fields.length === 0) return false;
      schemas = fields.flatMap((field) => schemasOfSameValue(field!, root));
    }
    return true;
  };
}
