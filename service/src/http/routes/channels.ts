import { Router } from 'express';
import type { ChannelsConfig } from '../../channels/channelAdapter.ts';
import { connectedChannel } from '../../channels/registry.ts';
import type { Channel } from '../../domain/channel.ts';
import type { Deps } from '../../domain/deps.ts';
import {
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  testChannel,
  updateChannel,
  type AskChannel,
} from '../../domain/operations/channels.ts';
import { openGenerated } from '../../domain/accountSetup.ts';
import * as contract from '../contract/channels.ts';
import { pageFrom, pageJson } from '../pages.ts';
import { serve } from '../serve.ts';
import { channelJson } from '../views/channel.ts';

/** Longer than the adapter's own time-out, so that a test always ends. */
const TEST_MARGIN_MS = 5000;

/** Tests a channel with its adapter. */
export const askChannelWith =
  (config: ChannelsConfig): AskChannel =>
  async (account) => {
    const { label, test } = connectedChannel(account.channel.type);
    const signal = AbortSignal.timeout(config.timeoutMs + TEST_MARGIN_MS);
    return test(account, { config, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return { ok: false, message: `${label} did not answer in time. Try again.` };
    });
  };

/** The connected accounts of a workspace. */
export function channelsRouter(deps: Deps, config: ChannelsConfig): Router {
  const router = Router();
  const shown = (channel: Channel) =>
    channelJson(
      channel,
      openGenerated(deps, connectedChannel(channel.type).fields, channel),
      deps.publicUrl(),
    );

  serve(
    router,
    deps,
    contract.createChannel,
    async ({ deps, caller, body: { type, name, settings } }) =>
      shown(await createChannel(deps, caller.workspace, { type, name, values: settings })),
  );

  serve(router, deps, contract.listChannels, async ({ deps, caller, query }) =>
    pageJson(await listChannels(deps, caller.workspace, pageFrom(query)), shown),
  );

  serve(router, deps, contract.getChannel, async ({ deps, caller, params }) =>
    shown(await getChannel(deps, caller.workspace, params.id!)),
  );

  serve(
    router,
    deps,
    contract.updateChannel,
    async ({ deps, caller, params, body: { name, settings } }) =>
      shown(await updateChannel(deps, caller.workspace, params.id!, { name, values: settings })),
  );

  serve(router, deps, contract.deleteChannel, async ({ deps, caller, params }) => {
    await deleteChannel(deps, caller.workspace, params.id!);
    return { id: params.id!, deleted: true as const };
  });

  serve(router, deps, contract.testChannel, async ({ deps, caller, params }) =>
    testChannel(deps, caller.workspace, params.id!, askChannelWith(config)),
  );

  return router;
}
