import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { Thread } from '../../domain/operations/readThread.ts';
import type { PaymentPageUrl } from '../../domain/webhookAddress.ts';
import { html, type View } from '../html.ts';
import { teamPage } from '../layout.ts';
import { closeForm, composer, type Refused } from './composerView.ts';
import { headFragment } from './headView.ts';
import { itemsFragment, type ThreadParts } from './itemsView.ts';
import { listPane, type ListParts } from './listView.ts';
import { paymentForm, type PaymentForm } from './paymentForm.ts';
import { hrefAt, threadHref } from './place.ts';
import { customerName } from './labels.ts';

export interface PageParts extends ListParts {
  readonly signedIn: SignedIn;
  /** Null: only the list. */
  readonly thread: Thread | null;
  /** The message before which a page of earlier ones ends. */
  readonly before?: number | null;
  readonly notice?: unknown;
  readonly isClosing?: boolean;
  readonly paying?: PaymentForm;
  /** The service's address as others see it. */
  readonly pageUrl: PaymentPageUrl;
  readonly refused?: Refused;
}

/** The list, and beside it (on a phone: instead of it) the conversation that is open. */
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
        ${thread === null ? html`<div class="thread-pane nothing"><p class="muted">Choose a conversation to read it.</p></div>` : threadPane({ ...parts, thread })}
      </div>
    `,
  );
};

function threadPane(parts: PageParts & ThreadParts): View {
  const { thread, place, before = null } = parts;
  const { id } = thread.conversation;
  const again = 'sse:thread, htmx:sseOpen from:closest .inbox';
  return html`
    <section class="thread-pane" aria-label="Conversation">
      <p class="back"><a href=${hrefAt('/conversations', place)}>← All conversations</a></p>
      <header id="thread-head" class="live" data-live hx-get=${threadHref(id, place, {}, '/head')} hx-trigger=${again}>${headFragment(parts)}</header>
      <div id="thread" class="live thread" data-live data-follow tabindex="0" role="region" aria-label="Messages" hx-get=${threadHref(id, place, { before }, '/items')} hx-trigger=${`${again}, visibilitychange from:document`}>
        ${itemsFragment(parts)}
      </div>
      ${formView(parts)}
    </section>
  `;
}

/** Where one writes, or the form that was asked for in its place. */
function formView(parts: PageParts & ThreadParts): View {
  const { thread, isClosing = false, paying, refused } = parts;
  if (thread.conversation.status === 'closed') return composer(parts, refused);
  return paying
    ? paymentForm(parts, paying)
    : isClosing
      ? closeForm(parts, refused)
      : composer(parts, refused);
}
