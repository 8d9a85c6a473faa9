import { adapterOf } from '../channels/index.ts';
import {
  type ChannelType,
  type Conversation,
  type DeliveryState,
  type Message,
  type SystemNote,
  actorName,
  customerName,
  isResendable,
} from '../conversations/index.ts';
import type { Thread, ThreadItem } from './readThread.ts';
import type { Payment } from '../payments/index.ts';
import { postButton } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { amountOf, paymentBadge, paymentView } from '../payments/screens/paymentView.ts';
import { icon } from '../platform/html/icons.ts';
import { linkedText } from '../platform/html/linkedText.ts';
import { decisionCard } from '../waits/screens/decisionCard.ts';
import { replyLine } from '../waits/screens/replyLine.ts';
import { approvalCard } from './approvalCard.ts';
import { beginsDay, clockView, dayView, timeOfItem } from './days.ts';
import { DECIDED_BY_LABELS, noteInWords, SENDER_LABELS, VERDICT_LABELS } from './labels.ts';
import { threadHref } from './links.ts';
import { attachmentOf, type Attachment } from './messageWords.ts';
import type { ThreadParts } from './threadParts.ts';
import { toolCallView } from './toolCallView.ts';

/** A page of messages, with the tool calls, payment links and events between them. */
export const itemsFragment = (parts: ThreadParts): View => {
  const { thread, place } = parts;
  const { id } = thread.conversation;
  return html`
    <div class="thread-items">
    ${
      thread.earlier === null
        ? null
        : html`
          <p class="pager">
            <a id="earlier" href=${threadHref(id, place, { before: thread.earlier })}>
              Earlier messages
            </a>
          </p>
        `
    }
    ${thread.items.length === 0 ? html`<p class="empty">No messages yet.</p>` : null}
    <ol class="bare" data-days>
      ${thread.items.map(
        (item, at) => html`
          ${beginsDay(item, thread.items[at - 1]) ? dayView(timeOfItem(item)) : null}
          <li class=${classOf(item, thread.items[at - 1])} data-at=${timeOfItem(item)}>
            ${itemView(item, parts)}
          </li>
        `,
      )}
    </ol>
    ${
      thread.isNewest
        ? null
        : html`
          <p class="pager">
            <a href=${threadHref(id, place)}>Back to the newest messages</a>
          </p>
        `
    }
    <span id="newest"></span>
    </div>
  `;
};

/** @param before the item before it */
function classOf(item: ThreadItem, before: ThreadItem | undefined): string {
  if (item.type !== 'message') return isQuiet(item) ? 'noted' : 'called';
  return continues(item, before) ? `${item.message.direction} continued` : item.message.direction;
}

/** Whether the sender is the same as before, on the same day: their name is then not repeated. */
function continues(item: ThreadItem, before: ThreadItem | undefined): boolean {
  if (item.type !== 'message' || before?.type !== 'message' || beginsDay(item, before))
    return false;
  const [{ sender }, former] = [item.message, before.message.sender];
  return (
    sender.type === former.type &&
    sender.memberId === former.memberId &&
    sender.name === former.name
  );
}

const isQuiet = (item: ThreadItem) =>
  item.type === 'note' || (item.type === 'wait' && item.wait.kind === 'reply');

function itemView(item: ThreadItem, parts: ThreadParts): View {
  const { thread, place, before, signedIn, now } = parts;
  const action = (path: string) => threadHref(thread.conversation.id, place, { before }, path);
  switch (item.type) {
    case 'message':
      return messageView(item.message, parts);
    case 'note':
      return noteView(item.note, parts.thread.conversation);
    case 'tool_call':
      return item.call.neededApproval
        ? approvalCard(item.call, item.tool, {
            signedIn,
            now,
            conversation: thread.conversation,
            action: action(`/tool-calls/${item.call.id}/decide`),
          })
        : toolCallView(item.call, item.tool, parts.now);
    case 'wait':
      return item.wait.kind === 'decision'
        ? decisionCard(item.wait, {
            signedIn,
            now,
            action: action(`/waits/${item.wait.id}/decide`),
          })
        : replyLine(item.wait, { signedIn, now, action: action(`/waits/${item.wait.id}/cancel`) });
    case 'payment':
      return paymentCard(item.payment, parts);
  }
}

const messageView = (message: Message, parts: ThreadParts): View => {
  const { thread } = parts;
  const { id, sender, text, choices = [], decidedBy, createdAt } = message;
  const attachment = attachmentOf(message, thread.conversation.channel);
  return html`
    <article class=${`message from-${sender.type}`} id=${id}>
      <header>
        <bdi class="who">
          ${sender.type === 'customer' ? customerName(thread.contact) : sender.name}
        </bdi> <span class="muted">${SENDER_LABELS[sender.type]}</span>
      </header>
      ${attachment === null ? textView(text) : attachmentView(attachment)}
      ${
        choices.length === 0
          ? null
          : html`
            <ul class="bare choices" aria-label="Choices of the customer">
              ${choices.map((choice) => html`<li><bdi>${choice}</bdi></li>`)}
            </ul>
          `
      }
      <footer>
        ${clockView(createdAt)} ${
          decidedBy === undefined ? null : html`<span>${DECIDED_BY_LABELS[decidedBy]}</span> `
        }
        ${deliveryView(message, thread.conversation.channel)}
        ${retryButton(message, parts)}
      </footer>
    </article>
  `;
};

const textView = (text: string): View => html`<p class="text" dir="auto">${linkedText(text)}</p>`;

const attachmentView = ({ icon: name, words, details, caption, where }: Attachment): View => html`
  <p class="attachment">
    ${icon(name)} <b><bdi>${words}</bdi></b>
    ${details === null ? null : html`: <bdi>${details}</bdi>`}
    ${where === null ? null : html` <span class="muted">${where}</span>`}
  </p>
  ${caption === '' ? null : textView(caption)}
`;

/**
 * Whether a message has reached its channel. The web chat shows a message as soon as it is stored;
 * other channels report how far it has come.
 */
function deliveryView({ direction, delivery }: Message, channel: ChannelType): View {
  if (direction === 'inbound') return null;
  const { isHosted, label } = adapterOf(channel);
  if (isHosted) return html`<span class="delivery">In the chat</span>`;
  if (!delivery) return null;
  const { state, error } = delivery;
  if (state === 'failed')
    return html`
      <span class="delivery problem" role="note">
        <b>Not delivered.</b> <bdi>${error ?? `${label} gave no reason.`}</bdi>
      </span>
    `;
  const retried = state === 'pending' && error !== null;
  return html`
    <span class="delivery">
      ${stateInWords(state, label)}
      ${retried ? html`. The last attempt failed: <bdi>${error}</bdi>` : null}
    </span>
  `;
}

/** Sends a failed message again. Shown while the channel would take it. */
function retryButton(message: Message, { signedIn, thread, place, before }: ThreadParts): View {
  const { conversation, reach } = thread;
  const isPossible = conversation.status !== 'closed' && reach.isConnected && reach.window.isOpen;
  if (!isPossible || !isResendable(message)) return null;
  const { id } = message;
  return postButton(signedIn, {
    action: threadHref(conversation.id, place, { before }, `/messages/${id}/retry`),
    label: 'Retry',
    button: { id: `retry-${id}`, class: 'small secondary outline', 'aria-describedby': id },
    form: { 'hx-sync': 'this:drop' },
  });
}

function stateInWords(state: Exclude<DeliveryState, 'failed'>, label: string): string {
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

/** Something that happened, as a sentence, or what was written for the team. */
const noteView = (note: SystemNote, { outcome }: Conversation): View =>
  note.change.type === 'team_note'
    ? teamNote(note, note.change.text)
    : html`
  <p class="note"><bdi>${noteInWords(note)}</bdi> · ${clockView(note.createdAt)}</p>
  ${
    note.change.type === 'closed' && outcome
      ? html`
        <p class="note">
          <b>${VERDICT_LABELS[outcome.verdict]}.</b> <bdi class="text">${outcome.summary}</bdi>
        </p>
      `
      : null
  }
`;

const teamNote = ({ id, actor, createdAt }: SystemNote, text: string): View => html`
  <article class="message team-note" id=${id} aria-label=${`Note by ${actorName(actor)}`}>
    <header>
      <bdi class="who">${actorName(actor)}</bdi> <span class="muted">note for the team</span>
    </header>
    ${textView(text)}
    <footer>${clockView(createdAt)}</footer>
  </article>
`;

/** A payment link, at the point where it was created. */
function paymentCard(
  payment: Payment,
  { signedIn, thread, place, before, now, paymentPageUrl }: ThreadParts,
): View {
  const { id, status, messageCount } = thread.conversation;
  return html`
    <article class="payment" id=${payment.id} aria-label=${`Payment link for ${amountOf(payment)}`}>
      <header>
        <span>Payment link <b>${amountOf(payment)}</b></span> ${paymentBadge(payment)}
      </header>
      ${paymentView(payment, {
        signedIn,
        now,
        pageUrl: paymentPageUrl,
        action: (verb) => threadHref(id, place, { before }, `/payments/${payment.id}/${verb}`),
        sendAfter: status === 'closed' ? null : messageCount,
        isSent: isSent(thread, paymentPageUrl(payment)),
      })}
    </article>
  `;
}

/** Whether an outbound message on this page contains the link. */
const isSent = ({ items }: Thread, url: string): boolean =>
  items.some(
    (item) =>
      item.type === 'message' &&
      item.message.direction === 'outbound' &&
      item.message.text.includes(url),
  );
