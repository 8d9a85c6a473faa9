import type { SignedIn } from '../../domain/operations/sessions.ts';
import type { Thread } from '../../domain/operations/readThread.ts';
import type { PaymentPageUrl } from '../../domain/payment.ts';
import { backLink } from '../components.ts';
import { html, type View } from '../html.ts';
import { teamPage } from '../layout.ts';
import { reloadsOn } from '../liveSection.ts';
import { closeForm, composer } from './composerView.ts';
import { headFragment } from './headView.ts';
import { itemsFragment } from './itemsView.ts';
import { listPane, type ListParts } from './listView.ts';
import { paymentForm } from './paymentForm.ts';
import { hrefAt, threadHref } from './place.ts';
import { customerName } from './labels.ts';
import type { OpenForm, ThreadParts } from './thread.ts';

interface PageParts extends ListParts, OpenForm {
  readonly signedIn: SignedIn;
  /** Null: only the list. */
  readonly thread: Thread | null;
  /** The message before which the page ends. */
  readonly before?: number | null;
  readonly notice?: unknown;
  readonly pageUrl: PaymentPageUrl;
}

/** The list and the open conversation, side by side. A phone shows one of them. */
export const conversationsPage = (parts: PageParts): View => {
  const { signedIn, thread, notice } = parts;
  const live = thread === null ? '/live' : `/live?conversation=${thread.conversation.id}`;
  return teamPage(
    signedIn,
    {
      title: thread === null ? 'Conversations' : customerName(thread.contact),
      section: 'conversations',
      notice,
      wide: true,
    },
    html`
      <h1 class="visually-hidden">Conversations</h1>
      <div class=${thread === null ? 'inbox' : 'inbox reading'} hx-ext="sse" sse-connect=${live}>
        ${listPane(parts)}
        ${thread === null ? html`<div class="thread-pane nothing"><p class="muted">Select a conversation to read it.</p></div>` : threadPane({ ...parts, thread })}
      </div>
    `,
  );
};

function threadPane(parts: PageParts & ThreadParts): View {
  const { thread, place, before = null } = parts;
  const { id } = thread.conversation;
  const reloads = reloadsOn('thread', '.inbox');
  return html`
    <section class="thread-pane" aria-label="Conversation">
      ${backLink(hrefAt('/conversations', place), 'All conversations')}
      <header id="thread-head" class="live" data-live hx-get=${threadHref(id, place, {}, '/head')} hx-trigger=${reloads}>${headFragment(parts)}</header>
      <div id="thread" class="live thread" data-live data-follow tabindex="0" role="region" aria-label="Messages" hx-get=${threadHref(id, place, { before }, '/items')} hx-trigger=${`${reloads}, visibilitychange from:document`}>
        ${itemsFragment(parts)}
      </div>
      ${formView(parts)}
    </section>
  `;
}

/** The reply form, or the form that was opened in its place. */
function formView(parts: PageParts & ThreadParts): View {
  const { thread, isClosing = false, paying, form } = parts;
  if (thread.conversation.status === 'closed') return composer(parts, form);
  if (paying) return paymentForm(parts, paying);
  return isClosing ? closeForm(parts, form) : composer(parts, form);
}
