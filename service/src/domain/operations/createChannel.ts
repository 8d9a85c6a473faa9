import { MAX_CHANNELS, type Channel, type ChannelType } from '../channel.ts';
import { checkSetup } from '../checkSetup.ts';
import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import { newId } from '../ids.ts';
import { EMPTY_SETUP, openSetup, sealSetup } from '../sealedSetup.ts';
import type { SetupValues } from '../setupField.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Connects an account of a channel: nobody is asked yet whether it works.
 * @param wanted.type one that a workspace connects
 * @param wanted.values what was filled in, by field name
 * @throws invalid_request (400) with param `settings.<name>`; channel_exists, channel_limit_reached
 * (409)
 */
export async function createChannel(
  deps: Deps,
  workspace: Workspace,
  { type, name, values }: { type: ChannelType; name: string; values: SetupValues },
): Promise<Channel> {
  const { fields, accountOf } = deps.channels.setupOf(type);
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
    // locks the workspace: an account is connected once, the limit is kept
    await tx.workspaces.get(workspace.id);
    await assertAccountIsFree(tx, channel);
    const all = await tx.channels.find({
      where: { workspaceId: workspace.id },
      limit: MAX_CHANNELS,
    });
    if (all.length >= MAX_CHANNELS) {
      throw new AppError(
        'channel_limit_reached',
        `A workspace has at most ${MAX_CHANNELS} channels. ${ERROR_CATALOGUE.channel_limit_reached.fix}`,
      );
    }
    await tx.channels.put(channel);
  });
  return channel;
}

/** @throws channel_exists (409) when another channel of the workspace is that account */
export async function assertAccountIsFree(
  tx: Tx,
  { id, workspaceId, type, account }: Channel,
): Promise<void> {
  const [twin] = await tx.channels.find({ where: { workspaceId, type, account }, limit: 1 });
  if (!twin || twin.id === id) return;
  throw new AppError(
    'channel_exists',
    `Channel ${twin.id} (${twin.name}) is this account already. ${ERROR_CATALOGUE.channel_exists.fix}`,
    { existingId: twin.id },
  );
}
