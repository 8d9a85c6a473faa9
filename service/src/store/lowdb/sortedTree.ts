import imported from 'sorted-btree';

/**
 * A sorted set: the methods of BTree that we use. Inserting, removing and finding take time that
 * grows with the logarithm of its size.
 */
export interface SortedTree<Key> {
  readonly size: number;
  /** Replaces an equal key. */
  set(key: Key, value: undefined): boolean;
  delete(key: Key): boolean;
  minKey(): Key | undefined;
  /** From `first` on, itself included. */
  keys(first?: Key): IterableIterator<Key>;
  entriesReversed(
    last: Key | undefined,
    reused: undefined,
    skipLast: boolean,
  ): IterableIterator<[Key, undefined]>;
}

// The package is CommonJS with a `default` export: Node shows the class one level down, a bundler
// does not.
const BTree = ('default' in imported ? imported.default : imported) as new <Key>(
  entries: undefined,
  compare: (a: Key, b: Key) => number,
) => SortedTree<Key>;

export const sortedTree = <Key>(compare: (a: Key, b: Key) => number): SortedTree<Key> =>
  new BTree<Key>(undefined, compare);

export const isSortedTree = <Key>(value: Key | SortedTree<Key>): value is SortedTree<Key> =>
  value instanceof BTree;
