import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import type { Deps } from '../deps.ts';
import { MAX_CHANNELS } from '../channel.ts';
import { windowOf, type MessagingWindow } from '../messagingWindow.ts';
import { findChannelOf } from './findChannelOf.ts';

/** How a customer can be written to, as the team sees it. */
export interface Reach {
  /** False when the account that they wrote to is not connected any more. */
  readonly isConnected: boolean;
  /** Of that account; null unless the workspace has several on the channel. */
  readonly accountName: string | null;
  readonly window: MessagingWindow;
}

export async function readReach(
  tx: Tx,
  { channels }: Pick<Deps, 'channels'>,
  contact: Contact,
  now: Date,
): Promise<Reach> {
  const capabilities = channels.capabilitiesOf(contact.channel);
  const window = windowOf(capabilities, contact, now);
  if (!capabilities.isSent) return { isConnected: true, accountName: null, window };
  const channel = await findChannelOf(tx, contact);
  const all = await tx.channels.find({
    where: { workspaceId: contact.workspaceId },
    limit: MAX_CHANNELS,
  });
  const isOneOfSeveral =
    channel !== null && all.filter(({ type }) => type === contact.channel).length > 1;
  return {
    isConnected: channel !== null,
    accountName: isOneOfSeveral ? channel.name : null,
    window,
  };
}
