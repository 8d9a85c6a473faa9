import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../channel.ts';
import { checkSetup } from '../checkSetup.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { openSetup, sealSetup } from '../sealedSetup.ts';
import type { SetupValues } from '../setupField.ts';
import type { Workspace } from '../workspace.ts';
import { assertAccountIsFree } from './createChannel.ts';
import { loadChannel } from './loadChannel.ts';

/**
 * Changes what is given; values that are left out stay, secrets too. Once a value is another one,
 * the last test says nothing any more and is taken off.
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
    const channel = await loadChannel(tx, workspace, id);
    const { fields, accountOf } = deps.channels.setupOf(channel.type);
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
