import { Router } from 'express';
import type { Logger } from 'pino';
import type { Deps } from '../../domain/deps.ts';

/** What payment providers deliver: `/payments/{provider}/webhook/{account_id}`. */
export function paymentWebhooksRouter(_deps: Deps, _log: Logger): Router {
  return Router();
}
