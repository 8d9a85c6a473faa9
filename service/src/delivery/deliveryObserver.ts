import type { Delivery } from '../domain/delivery.ts';
import type { AttemptResult } from './attempt.ts';

/**
 * Who is told what becomes of deliveries, to count it. Called often: it must be quick and never
 * throw.
 */
export interface DeliveryObserver {
  /** An HTTP try has ended; its record may still be on the way. */
  attempted(result: AttemptResult): void;
  /** On record: the delivery waits for no further attempt. */
  ended(delivery: Delivery): void;
}

export const nobody: DeliveryObserver = { attempted() {}, ended() {} };
