import type { Channel } from '../channel.ts';
import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';

/**
 * The account through which a contact is written to: the one that they wrote to. Null when it is
 * not connected any more.
 */
export async function findChannelOf(
  tx: Tx,
  { workspaceId, channel: type, channelAccount }: Contact,
): Promise<Channel | null> {
  if (channelAccount === null || channelAccount === undefined) return null;
  const [channel] = await tx.channels.find({
    where: { workspaceId, type, account: channelAccount },
    limit: 1,
  });
  return channel ?? null;
}
