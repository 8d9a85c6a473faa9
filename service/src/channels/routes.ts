import { Router } from 'express';
import type { ChannelsConfig } from './channelAdapter.ts';
import { connectedChannel } from './registry.ts';
import { testChannel } from './testChannel.ts';
import type { Channel } from './channel.ts';
import type { Deps } from '../platform/deps.ts';
import {
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  updateChannel,
} from './operations/channels.ts';
import { openGenerated } from '../platform/accounts/accountSetup.ts';
import * as contract from './contract.ts';
import { pageFrom, pageJson } from '../platform/http/page.ts';
import { serve } from '../platform/http/serve.ts';
import { channelJson } from './views.ts';

/** The connected accounts of a workspace. */
export function channelsRouter(deps: Deps, config: ChannelsConfig): Router {
  const router = Router();
  const jsonOf = (channel: Channel) =>
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
      jsonOf(await createChannel(deps, caller.workspace, { type, name, values: settings })),
  );

  serve(router, deps, contract.listChannels, async ({ deps, caller, query }) =>
    pageJson(await listChannels(deps, caller.workspace, pageFrom(query)), jsonOf),
  );

  serve(router, deps, contract.getChannel, async ({ deps, caller, params }) =>
    jsonOf(await getChannel(deps, caller.workspace, params.id!)),
  );

  serve(
    router,
    deps,
    contract.updateChannel,
    async ({ deps, caller, params, body: { name, settings } }) =>
      jsonOf(await updateChannel(deps, caller.workspace, params.id!, { name, values: settings })),
  );

  serve(router, deps, contract.deleteChannel, async ({ deps, caller, params }) => {
    await deleteChannel(deps, caller.workspace, params.id!);
    return { id: params.id!, deleted: true as const };
  });

  serve(router, deps, contract.testChannel, async ({ deps, caller, params }) =>
    testChannel(deps, config, caller.workspace, params.id!),
  );

  return router;
}
