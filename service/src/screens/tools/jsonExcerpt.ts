import type { Json, JsonObject } from '../../domain/json.ts';

/**
 * The beginning of a value as readable JSON; a text stays as it is. Reads only about as many
 * characters as it returns, however large the value is.
 */
export function jsonExcerpt(value: Json, mostCharacters: number): string {
  let left = mostCharacters;
  const cutText = (text: string): string => {
    const kept = text.slice(0, Math.max(0, left));
    left -= kept.length + 4;
    return kept.length === text.length ? text : `${kept.toWellFormed()}…`;
  };
  const cutList = (list: readonly Json[]): Json => {
    const kept: Json[] = [];
    for (const item of list) {
      if (left <= 0) return [...kept, '…'];
      kept.push(cut(item));
    }
    return kept;
  };
  const cutObject = (object: JsonObject): Json => {
    const kept: [string, Json][] = [];
    for (const name of Object.keys(object)) {
      if (left <= 0) return Object.fromEntries([...kept, ['…', '…']]);
      kept.push([cutText(name), cut(object[name]!)]);
    }
    return Object.fromEntries(kept);
  };
  const cut = (json: Json): Json => {
    if (typeof json === 'string') return cutText(json);
    left -= 6;
    if (typeof json !== 'object' || json === null) return json;
    return Array.isArray(json) ? cutList(json as readonly Json[]) : cutObject(json as JsonObject);
  };
  return typeof value === 'string' ? cutText(value) : JSON.stringify(cut(value), null, 2);
}
