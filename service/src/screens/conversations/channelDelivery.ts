import { adapterOf } from '../../channels/registry.ts';
import type { ChannelType } from '../../domain/channel.ts';
import type { DeliveryState, Message } from '../../domain/message.ts';
import { html, type View } from '../html.ts';

/**
 * Whether a message of ours has reached its channel, in words beside it. A channel that the service
 * hosts shows what is stored: a stored message is in the chat. Others tell how far the message has
 * come.
 */
export function deliveryView({ direction, delivery }: Message, channel: ChannelType): View {
  if (direction === 'inbound') return null;
  const { isHosted, label } = adapterOf(channel);
  if (isHosted) return html`<span class="delivery">In the chat</span>`;
  if (!delivery) return null;
  const { state, error } = delivery;
  if (state === 'failed')
    return html`<span class="delivery problem" role="note"><b>Not delivered.</b> <bdi>${error ?? `${label} gave no reason.`}</bdi></span>`;
  return html`<span class="delivery">${stateWords(state, label)}${state === 'pending' && error !== null ? html`; the last try failed: <bdi>${error}</bdi>` : null}</span>`;
}

function stateWords(state: Exclude<DeliveryState, 'failed'>, label: string): string {
  switch (state) {
    case 'pending':
      return 'Waiting to be sent';
    case 'sent':
      return `Sent to ${label}`;
    case 'delivered':
      return 'Delivered';
    case 'read':
      return 'Read';
  }
}
