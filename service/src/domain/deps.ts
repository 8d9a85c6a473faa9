import type { SecretBox } from '../security/secretBox.ts';
import type { Clock } from './clock.ts';
import type { ServiceStore } from './collections.ts';

/** What operations are given: where things are kept, what time it is, how secrets are sealed. */
export interface Deps {
  /** Transactions alone: an operation may run inside a caller's transaction. */
  readonly store: Pick<ServiceStore, 'transaction'>;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  /**
   * Refuses an address that events may not be sent to.
   * @throws target_url_invalid, target_url_not_https, target_url_not_public, target_url_unresolvable (422)
   */
  readonly checkTargetUrl: (url: string) => Promise<void>;
}
