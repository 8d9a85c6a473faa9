import { isJsonObject, type Json } from './json.ts';

/** Dot paths as a tree; a name that ends a path keeps all that is below it. */
interface Selection {
  readonly all: boolean;
  readonly fields: ReadonlyMap<string, Selection>;
}

function selectionOf(paths: readonly (readonly string[])[]): Selection {
  const below = Map.groupBy(
    paths.filter((path) => path.length > 0),
    ([name]) => name!,
  );
  const fields = [...below].map(
    ([name, inner]) => [name, selectionOf(inner.map((path) => path.slice(1)))] as const,
  );
  return { all: paths.some((path) => path.length === 0), fields: new Map(fields) };
}

/** Lists directly in lists; paths have no names for them. */
const MAX_NESTED_LISTS = 32;

/** @returns undefined when nothing of the value is selected */
function select(value: Json, selection: Selection, nestedLists: number): Json | undefined {
  if (selection.all) return value;
  if (Array.isArray(value)) {
    if (nestedLists >= MAX_NESTED_LISTS) return undefined;
    return value
      .map((item: Json) => select(item, selection, nestedLists + 1))
      .filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return undefined;
  const kept = [...selection.fields].flatMap(([name, inner]): [string, Json][] => {
    const field = Object.hasOwn(value, name) ? select(value[name]!, inner, 0) : undefined;
    return field === undefined ? [] : [[name, field]];
  });
  return Object.fromEntries(kept);
}

/**
 * Keeps of an answer what the dot paths name, in the structure it has. A path goes through lists to
 * each of their items (`items.name`); where it finds nothing, nothing is kept.
 * @param fields all is kept when absent or empty
 * @returns null when the answer is a plain value, which has no fields
 */
export function selectFields(result: Json, fields: readonly string[] | undefined): Json {
  if (fields === undefined || fields.length === 0) return result;
  return select(result, selectionOf(fields.map((path) => path.split('.'))), 0) ?? null;
}
