import { Router } from 'express';
import type { ChannelsConfig } from '../../channels/channelAdapter.ts';
import type { Deps } from '../../domain/deps.ts';

/** The accounts that a workspace has connected. */
export function channelsRouter(_deps: Deps, _config: ChannelsConfig): Router {
  return Router();
}
