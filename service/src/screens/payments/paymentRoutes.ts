import { Router } from 'express';
import type { Deps } from '../../domain/deps.ts';
import type { FollowPayment } from '../../http/paymentFeed.ts';
import type { PaymentsConfig } from '../../payments/paymentAdapter.ts';

/** `/payments`: the providers, and the links that were made. */
export function paymentScreensRouter(_deps: Deps, _config: PaymentsConfig, _followPayment: FollowPayment): Router {
  return Router();
}
