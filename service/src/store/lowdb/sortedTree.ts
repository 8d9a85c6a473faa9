import sortedBtree from 'sorted-btree';

// The package is CommonJS with a `default` export, which an ES module sees one level down.
const BTree = sortedBtree.default;

/** A sorted set: inserting, removing and finding cost the logarithm of its size. */
export type SortedTree<Key> = InstanceType<typeof BTree<Key, undefined>>;

export const sortedTree = <Key>(compare: (a: Key, b: Key) => number): SortedTree<Key> =>
  new BTree<Key, undefined>(undefined, compare);

export const compareStrings = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
