import type { ServiceStore, Tx } from '../../service/src/store/collections.ts';
import { overriding } from './overriding.ts';

type Peek<Name extends 'deliveries' | 'subscriptions'> = Tx[Name]['peek'];

/** The store, whose transactions peek at a collection as `through` makes them. */
export const peekingThrough = <Name extends 'deliveries' | 'subscriptions'>(
  store: ServiceStore,
  name: Name,
  through: (peek: Peek<Name>) => Peek<Name>,
): ServiceStore =>
  overriding(store, 'transaction', (fn) =>
    store.transaction((tx) => {
      const collection: Tx[Name] = tx[name];
      const peek = through((id) => collection.peek(id) as never);
      return fn(overriding(tx, name, overriding(collection, 'peek', peek)));
    }),
  );
