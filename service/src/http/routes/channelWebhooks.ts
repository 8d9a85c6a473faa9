import { Router } from 'express';
import type { Logger } from 'pino';
import type { Deps } from '../../domain/deps.ts';

/** What channels deliver: `/channels/{type}/webhook/{channel_id}`. */
export function channelWebhooksRouter(_deps: Deps, _log: Logger): Router {
  return Router();
}
