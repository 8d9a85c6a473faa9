import type { Bounds } from './limits/bounds.ts';
import type { Passwords } from './security/passwords.ts';
import type { SecretBox } from './security/secretBox.ts';
import type { Clock } from './clock.ts';
import type { ServiceStore, Tx } from '../store/collections.ts';

/**
 * What operations are given: where things are kept, what time it is, how secrets are sealed. Each
 * subject adds what its operations need, by declaration merging; app/service.ts puts it together.
 */
export interface Deps {
  /** Only `transaction`, because an operation may run inside a caller's transaction. */
  readonly store: Pick<ServiceStore, 'transaction'>;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly passwords: Passwords;
  /**
   * Refuses an address that events and tool calls may not be sent to.
   * @param workspace the one whose share of the look-ups is used
   * @param param the field that holds the address, for the error
   * @throws target_url_invalid, target_url_not_https, target_url_not_public,
   * target_url_unresolvable (422); unavailable (503)
   */
  readonly checkTargetUrl: (
    workspace: { readonly id: string },
    url: string,
    param: string,
  ) => Promise<void>;
  /** To be told when a bound against abuse is reached. */
  readonly bounds: Bounds;
  /**
   * Refuses additions to the store while its memory is full. New visitors are refused before other
   * data, and workspaces that hold much before other workspaces.
   * @param workspaceId the workspace that would hold the addition; null while it is not known
   * @throws unavailable (503) with Retry-After
   * @see docs/decisions/0016-additions-are-refused-before-memory-is-full.md
   */
  readonly assertRoom: (adds: 'visitor' | 'data', workspaceId: string | null) => void;
  /** The service's address as others see it, without a `/` at its end. */
  readonly publicUrl: () => string;
}

/**
 * Runs several operations as one transaction: all their changes are kept, or none.
 * @param run gets `within`: the same `deps`, with a store that runs everything in this transaction
 */
export const inOneTransaction = <D extends Pick<Deps, 'store'>, T>(
  deps: D,
  run: (within: D, tx: Tx) => Promise<T>,
): Promise<T> =>
  deps.store.transaction((tx) => run({ ...deps, store: { transaction: (fn) => fn(tx) } }, tx));
