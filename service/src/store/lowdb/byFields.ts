import type { Document, Scalar } from '../store.ts';

export type Row = Document & Readonly<Record<string, unknown>>;

type Level<Value> = Value | Levels<Value>;
type Levels<Value> = Map<Scalar, Level<Value>>;

/**
 * Values by the fields of a row: a map of maps, one for each field. A missing field counts as null.
 */
export class ByFields<Value> {
  readonly #fields: readonly string[];
  /** Without fields, the only value. */
  #top: Level<Value> | undefined;

  constructor(fields: readonly string[]) {
    this.#fields = fields;
  }

  get(row: Row): Value | undefined {
    let level = this.#top;
    for (const field of this.#fields) {
      if (level === undefined) return undefined;
      level = (level as Levels<Value>).get(valueOf(row, field));
    }
    return level as Value | undefined;
  }

  set(row: Row, value: Value): void {
    this.#top = this.#with(this.#top, row, 0, value);
  }

  delete(row: Row): void {
    this.#top = this.#with(this.#top, row, 0, undefined);
  }

  /** @returns the level with the value, or undefined when nothing is left in it */
  #with(
    level: Level<Value> | undefined,
    row: Row,
    depth: number,
    value: Value | undefined,
  ): Level<Value> | undefined {
    if (depth === this.#fields.length) return value;
    const map = (level as Levels<Value> | undefined) ?? new Map();
    const key = valueOf(row, this.#fields[depth]!);
    const below = this.#with(map.get(key), row, depth + 1, value);
    if (below === undefined) map.delete(key);
    else map.set(key, below);
    return map.size === 0 ? undefined : map;
  }
}

const valueOf = (row: Row, field: string): Scalar => (row[field] ?? null) as Scalar;
