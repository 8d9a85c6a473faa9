import { isDeepStrictEqual } from 'node:util';
import type { Channel, ConnectionTest } from '../channel.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { openSetup } from '../sealedSetup.ts';
import type { SetupValues } from '../setupField.ts';
import type { Workspace } from '../workspace.ts';
import { getChannel } from './loadChannel.ts';

/**
 * Asks the channel itself. @param account with its secrets in the clear, for the time of the call
 */
export type AskChannel = (account: {
  readonly channel: Channel;
  readonly values: SetupValues;
}) => Promise<Omit<ConnectionTest, 'at'>>;

/**
 * Tests the connection of an account and puts the result on record, unless what was tested is by
 * then no longer what is filled in.
 * @param ask is called outside of any transaction
 * @throws not_found (404)
 */
export async function testChannel(
  deps: Deps,
  workspace: Workspace,
  id: string,
  ask: AskChannel,
): Promise<ConnectionTest> {
  const { store, clock } = deps;
  const channel = await getChannel(deps, workspace, id);
  const asked = openSetup(deps, channel);
  const { ok, message } = await ask({ channel, values: asked });
  const lastTest: ConnectionTest = { ok, message, at: timestamp(clock.now()) };
  await store.transaction(async (tx) => {
    const current = await tx.channels.get(id);
    if (current && isDeepStrictEqual(openSetup(deps, current), asked))
      await tx.channels.put({ ...current, lastTest });
  });
  return lastTest;
}
