import type { Channel, ChannelType } from '../channel.ts';
import type { Deps } from '../deps.ts';

/**
 * The channel that an inbound address names, whose workspace is not known yet; null when there is
 * none.
 */
export const findChannelAt = ({ store }: Pick<Deps, 'store'>, type: ChannelType, id: string) =>
  store.transaction(async (tx): Promise<Channel | null> => {
    const channel = await tx.channels.peek(id);
    return channel?.type === type ? channel : null;
  });
