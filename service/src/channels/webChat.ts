import { WEB_CHAT } from '../domain/channel.ts';
import { MAX_REPLY_CHARACTERS } from '../domain/message.ts';
import type { HostedChannel } from './channelAdapter.ts';

/** The service's own chat page. A stored message is in the chat at once. */
export const webChat: HostedChannel = {
  type: WEB_CHAT,
  label: 'Web chat',
  isHosted: true,
  capabilities: { isSent: false, textMax: MAX_REPLY_CHARACTERS, windowMs: null },
};
