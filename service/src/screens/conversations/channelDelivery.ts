import { WEB_CHAT, type ChannelType } from '../../domain/channel.ts';
import type { Message } from '../../domain/message.ts';
import { html, type View } from '../html.ts';

/**
 * Whether a message of ours has reached its channel, in a word beside it. The web chat shows what is
 * stored: a stored message is in the chat. Other channels say here what they know of the message.
 */
export function deliveryView(message: Message, channel: ChannelType): View {
  if (message.direction === 'inbound') return null;
  switch (channel) {
    case WEB_CHAT:
      return html`<span class="delivery">In the chat</span>`;
    default:
      return null;
  }
}
