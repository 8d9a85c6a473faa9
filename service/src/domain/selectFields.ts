import { isJsonObject, type Json } from './json.ts';

/** Dot paths as a tree. Where a path ends, everything below is kept (`all`). */
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

/** The most lists directly inside each other. A path has no names for them. */
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
 * Keeps the fields of an answer that the dot paths name, in the answer's own structure. A path applies
 * to every item of a list (`items.name`). A path that matches nothing keeps nothing.
 * @param fields when absent or empty, keeps everything
 * @returns null when the answer is a plain value, which has no fields
 */
export function selectFields(result: Json, fields: readonly string[] | undefined): Json {
  if (fields === undefined || fields.length === 0) return result;
  return select(result, selectionOf(fields.map((path) => path.split('.'))), 0) ?? null;
}
