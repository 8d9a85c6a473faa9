import type { CollectionDefinition, Store, Transaction } from './store.ts';

/**
 * The documents of the service's collections, by name. Each subject adds its own in its
 * `…Store.ts`, by declaration merging; app/collections.ts puts the definitions together.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- other files add its properties
export interface Collections {}

/** The definition of each collection. */
export type ServiceSchema = {
  [Name in keyof Collections]: CollectionDefinition<Collections[Name]>;
};

export type ServiceStore = Store<ServiceSchema>;
export type Tx = Transaction<ServiceSchema>;
