import { WEB_CHAT } from '../domain/channel.ts';
import { MAX_REPLY_CHARACTERS } from '../domain/message.ts';
import type { HostedChannel } from './channelAdapter.ts';

/**
 * The chat page that the service serves: http/routes/chat.ts takes in, a stored message is in the
 * chat.
 */
export const webChat: HostedChannel = {
  type: WEB_CHAT,
  label: 'Web chat',
  isHosted: true,
  capabilities: { isSent: false, textMax: MAX_REPLY_CHARACTERS, windowMs: null },
};
