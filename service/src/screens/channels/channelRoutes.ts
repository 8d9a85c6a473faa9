import { Router } from 'express';
import type { ChannelsConfig } from '../../channels/channelAdapter.ts';
import type { Deps } from '../../domain/deps.ts';

/** `/channels`: where conversations come from. */
export function channelScreensRouter(_deps: Deps, _config: ChannelsConfig): Router {
  return Router();
}
