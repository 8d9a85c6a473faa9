import { type ChannelType, WEB_CHAT, MAX_REPLY_CHARACTERS } from '../conversations/index.ts';
import type { ChannelAdapter, ConnectedChannel, HostedChannel } from './channelAdapter.ts';
import { whatsappCloud } from './whatsapp/whatsappCloud.ts';

/** The service's own chat page. A stored message is in the chat at once. */
const webChat: HostedChannel = {
  type: WEB_CHAT,
  label: 'Web chat',
  isHosted: true,
  capabilities: { textMax: MAX_REPLY_CHARACTERS, windowMs: null },
};

/**
 * Every channel. To add one, write its adapter and list it here.
 * @see docs/channels.md, which shows the other lists that name the channels
 */
const ADAPTERS: readonly ChannelAdapter[] = [webChat, whatsappCloud];

/** The channels that a workspace connects. */
export const CONNECTED_CHANNELS: readonly ConnectedChannel[] = ADAPTERS.filter(
  (adapter) => !adapter.isHosted,
);

/** @throws Error for a type that is not registered */
export function adapterOf(type: ChannelType): ChannelAdapter {
  const adapter = ADAPTERS.find((each) => each.type === type);
  if (!adapter) throw new Error(`there is no channel ${type}`);
  return adapter;
}

/** @throws Error when the type is not registered, or hosted */
export function connectedChannel(type: ChannelType): ConnectedChannel {
  const adapter = adapterOf(type);
  if (adapter.isHosted) throw new Error(`${type} is hosted here`);
  return adapter;
}
