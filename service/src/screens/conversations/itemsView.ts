import type { Message } from '../../domain/message.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { Thread, ThreadItem } from '../../domain/operations/readThread.ts';
import type { PaymentPageUrl } from '../../domain/webhookAddress.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';
import { approvalCard } from './approvalCard.ts';
import { deliveryView } from './channelDelivery.ts';
import { noteView } from './noteView.ts';
import { paymentCard } from './paymentCard.ts';
import { threadHref, type Place } from './place.ts';
import { toolCallView } from './toolCallView.ts';
import { SENDER_LABELS, customerName } from './labels.ts';

export interface ThreadParts {
  readonly signedIn: SignedIn;
  readonly thread: Thread;
  readonly place: Place;
  readonly now: Date;
  /** The service's address as others see it. */
  readonly pageUrl: PaymentPageUrl;
}

/** Messages, and between them tool calls, payment links and what happened. */
export const itemsFragment = (parts: ThreadParts): View => {
  const { thread, place } = parts;
  return html`
    ${thread.earlier === null ? null : html`<p class="pager"><a id="earlier" href=${threadHref(thread.conversation.id, place, { before: thread.earlier })}>Earlier messages</a></p>`}
    ${thread.items.length === 0 ? html`<p class="empty">Nothing was written here yet.</p>` : null}
    <ol>
      ${thread.items.map((item) => html`<li class=${classOf(item)}>${itemView(item, parts)}</li>`)}
    </ol>
    ${thread.isNewest ? null : html`<p class="pager"><a href=${threadHref(thread.conversation.id, place)}>Back to the newest messages</a></p>`}
  `;
};

const classOf = (item: ThreadItem) =>
  item.type === 'message' ? item.message.direction : item.type === 'note' ? 'noted' : 'called';

function itemView(item: ThreadItem, parts: ThreadParts): View {
  switch (item.type) {
    case 'message':
      return messageView(item.message, parts);
    case 'note':
      return noteView(item.note, parts.thread.conversation, parts.now);
    case 'tool_call':
      return item.call.neededApproval
        ? approvalCard(item.call, item.tool, parts)
        : toolCallView(item.call, item.tool, parts.now);
    case 'payment':
      return paymentCard(item.payment, parts);
  }
}

const messageView = (message: Message, { thread, now }: ThreadParts): View => html`
  <article class=${`message from-${message.sender.type}`} id=${message.id}>
    <header><bdi class="who">${message.sender.type === 'customer' ? customerName(thread.contact) : message.sender.name}</bdi> <span class="muted">${SENDER_LABELS[message.sender.type]}</span></header>
    <p class="text" dir="auto">${message.text}</p>
    <footer>${timeView(message.createdAt, now)} ${deliveryView(message, thread.conversation.channel)}</footer>
  </article>
`;
