import type { Payment } from '../../domain/payment.ts';
import type { Thread } from '../../domain/operations/readThread.ts';
import { html, type View } from '../html.ts';
import { paymentView } from '../payments/paymentView.ts';
import { amountOf, paymentBadge } from '../payments/paymentLabels.ts';
import type { ThreadParts } from './itemsView.ts';
import { threadHref } from './place.ts';

/** A payment link where it was made. */
export function paymentCard(
  payment: Payment,
  { signedIn, thread, place, now, pageUrl }: ThreadParts,
): View {
  const { id, status, messageCount } = thread.conversation;
  const action = (verb: string) => threadHref(id, place, {}, `/payments/${payment.id}/${verb}`);
  return html`
    <article class="payment" id=${payment.id} aria-label=${`Payment link for ${amountOf(payment)}`}>
      <header><span>Payment link <b>${amountOf(payment)}</b></span> ${paymentBadge(payment)}</header>
      ${paymentView(payment, { signedIn, now, pageUrl, action, sendAfter: status === 'closed' ? null : messageCount, isSent: isSent(thread, pageUrl(payment)) })}
    </article>
  `;
}

/** Whether a message of ours on this page holds the link. */
const isSent = ({ items }: Thread, url: string): boolean =>
  items.some(
    (item) =>
      item.type === 'message' &&
      item.message.direction === 'outbound' &&
      item.message.text.includes(url),
  );
