import { isDeepStrictEqual } from 'node:util';
import { MAX_CHANNELS, type Channel } from '../channel.ts';
import {
  EMPTY_SETUP,
  checkSetup,
  openSetup,
  sealSetup,
  type SetupValues,
} from '../../platform/accounts/accountSetup.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Contact, ChannelType } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix, notFound } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import { connectedChannel } from '../registry.ts';
import { newestFirst, type PageRequest } from '../../platform/http/page.ts';
import type { Workspace } from '../../team/index.ts';

/** @throws not_found (404), also for another workspace's channel */
export const getChannel = ({ store }: Pick<Deps, 'store'>, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => ofWorkspace(await tx.channels.peek(id), workspace, id));

/** Finds the channel that a webhook address names, before its workspace is known. */
export const findChannelAt = ({ store }: Pick<Deps, 'store'>, type: ChannelType, id: string) =>
  store.transaction(async (tx): Promise<Channel | null> => {
    const channel = await tx.channels.peek(id);
    return channel?.type === type ? channel : null;
  });

/** Finds the channel that a contact wrote to; null when it is no longer connected. */
export async function findChannelOf(
  tx: Tx,
  { workspaceId, channel: type, channelAccount: account }: Contact,
): Promise<Channel | null> {
  if (account === null || account === undefined) return null;
  const [channel] = await tx.channels.find({ where: { workspaceId, type, account }, limit: 1 });
  return channel ?? null;
}

/** Lists the workspace's channels, newest first. */
export const listChannels = ({ store }: Deps, workspace: Workspace, page: PageRequest) =>
  store.transaction((tx) => newestFirst(tx.channels, { workspaceId: workspace.id }, page));

/**
 * Connects an account without testing the connection.
 * @param values the form's values by field name
 * @throws invalid_request (400) with param `settings.<name>`; channel_exists, channel_limit_reached
 * (409)
 */
export async function createChannel(
  deps: Deps,
  workspace: Workspace,
  { type, name, values }: { type: ChannelType; name: string; values: SetupValues },
): Promise<Channel> {
  const { fields, accountOf } = connectedChannel(type);
  const setup = sealSetup(deps, EMPTY_SETUP, checkSetup(fields, values, { isNew: true }));
  const now = timestamp(deps.clock.now());
  const channel: Channel = {
    id: newId('chan'),
    workspaceId: workspace.id,
    type,
    name,
    account: accountOf(openSetup(deps, setup)),
    ...setup,
    lastTest: null,
    lastInboundAt: null,
    createdAt: now,
    updatedAt: now,
  };
  await deps.store.transaction(async (tx) => {
    // Locks the workspace: an account is connected once, and the number of channels stays bounded.
    await tx.workspaces.get(workspace.id);
    await assertAccountIsFree(tx, channel);
    const all = await tx.channels.find({
      where: { workspaceId: workspace.id },
      limit: MAX_CHANNELS,
    });
    if (all.length >= MAX_CHANNELS) {
      throw errorWithFix(
        'channel_limit_reached',
        `A workspace has at most ${MAX_CHANNELS} channels.`,
      );
    }
    await tx.channels.put(channel);
  });
  return channel;
}

/** @throws channel_exists (409) when another channel of the workspace connects the same account */
async function assertAccountIsFree(
  tx: Tx,
  { id, workspaceId, type, account }: Channel,
): Promise<void> {
  const [twin] = await tx.channels.find({ where: { workspaceId, type, account }, limit: 1 });
  if (!twin || twin.id === id) return;
  throw errorWithFix(
    'channel_exists',
    `Channel ${twin.id} (${twin.name}) already connects this account.`,
    { existingId: twin.id },
  );
}

/**
 * Changes the given values and keeps the others, secrets included. A changed value clears the last
 * test, which no longer applies.
 * @throws invalid_request (400) with param `settings.<name>`; not_found (404); channel_exists (409)
 */
export const updateChannel = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  { name, values = {} }: { name?: string | undefined; values?: SetupValues | undefined },
) =>
  deps.store.transaction(async (tx): Promise<Channel> => {
    await tx.workspaces.get(workspace.id); // locks the workspace: an account is connected once
    const channel = await lockChannel(tx, workspace, id);
    const { fields, accountOf } = connectedChannel(channel.type);
    const before = openSetup(deps, channel);
    const setup = sealSetup(deps, channel, checkSetup(fields, values, { isNew: false }));
    const after = openSetup(deps, setup);
    const changed: Channel = {
      ...channel,
      ...setup,
      name: name ?? channel.name,
      account: accountOf(after),
      lastTest: isDeepStrictEqual(before, after) ? channel.lastTest : null,
      updatedAt: timestamp(deps.clock.now()),
    };
    await assertAccountIsFree(tx, changed);
    await tx.channels.put(changed);
    return changed;
  });

/**
 * Disconnects an account and removes its secrets; its conversations stay. Messages still to be sent
 * through it fail.
 * @throws not_found (404)
 */
export const deleteChannel = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => {
    await lockChannel(tx, workspace, id);
    await tx.channels.delete(id);
  });

/**
 * Loads a channel and locks it until the transaction ends.
 * @throws not_found (404), also for another workspace's channel
 */
const lockChannel = async (tx: Tx, workspace: Workspace, id: string): Promise<Channel> =>
  ofWorkspace(await tx.channels.get(id), workspace, id);

function ofWorkspace(found: Channel | null, workspace: Workspace, id: string): Channel {
  if (found?.workspaceId !== workspace.id) throw notFound('channel', id);
  return found;
}
