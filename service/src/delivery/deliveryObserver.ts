import type { Delivery } from '../domain/delivery.ts';
import type { AttemptResult } from './attempt.ts';

/** Counts attempts and deliveries. Called often: it must be quick and never throw. */
export interface DeliveryObserver {
  /** An attempt has ended; it may not be on record yet. */
  attempted(result: AttemptResult): void;
  /** The delivery has ended, and that is on record. */
  ended(delivery: Delivery): void;
}

export const noObserver: DeliveryObserver = { attempted() {}, ended() {} };
