import { Router } from 'express';
import type { Deps } from '../../domain/deps.ts';
import type { PaymentsConfig } from '../../payments/paymentAdapter.ts';
import type { FollowPayment } from '../paymentFeed.ts';

/** Payment links and the providers that take the money. */
export function paymentsRouter(_deps: Deps, _config: PaymentsConfig, _followPayment: FollowPayment): Router {
  return Router();
}
