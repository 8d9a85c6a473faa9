import type { Thread } from './readThread.ts';
import { avatar, postButton } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { icon } from '../platform/html/icons.ts';
import { teamPage } from '../platform/html/layout.ts';
import { reloadsOn } from '../platform/html/liveSection.ts';
import { contactPanel } from './contactPanel.ts';
import { closeForm, composer, type ComposerParts } from './composerView.ts';
import { itemsFragment } from './itemsView.ts';
import { listPane, type ListParts } from './listView.ts';
import { paymentForm } from './paymentForm.ts';
import { hrefAt, threadHref } from './links.ts';
import { holderStatus, VERDICT_LABELS } from './labels.ts';
import { actorName, customerName, type Conversation } from '../conversations/index.ts';
import { presenceView } from './presence/presenceView.ts';
import { shortcutsDialog } from './shortcutsView.ts';
import type { OpenForm, PanelParts, SharedParts, ThreadParts } from './threadParts.ts';
import { timeView } from '../platform/html/times.ts';

interface PageParts extends ListParts, SharedParts, OpenForm, Pick<ComposerParts, 'cannedReplies'> {
  /** Null when only the list is shown. */
  readonly open: { readonly thread: Thread; readonly panel: PanelParts['panel'] } | null;
  readonly notice?: unknown;
}

/** The list and the open conversation, side by side. A phone shows one of them. */
export const conversationsPage = (parts: PageParts): View => {
  const { signedIn, open, notice } = parts;
  return teamPage(
    signedIn,
    {
      title: open === null ? 'Conversations' : customerName(open.thread.contact),
      section: 'conversations',
      notice,
      wide: true,
      loadsFormScripts: open !== null,
      scripts: (parts.cannedReplies ?? []).length > 0 ? ['canned-replies.js'] : [],
    },
    html`
      <h1 class="visually-hidden">Conversations</h1>
      <div
        class=${open === null ? 'inbox' : 'inbox reading'}
        data-conversation=${open === null ? null : open.thread.conversation.id}
      >
        ${listPane(parts)}
        ${
          open === null
            ? html`
              <div class="thread-pane nothing">
                <p class="muted">Select a conversation to read it.</p>
              </div>
            `
            : threadPane({ ...parts, ...open })
        }
      </div>
      ${shortcutsDialog()}
    `,
  );
};

function threadPane(parts: PageParts & ThreadParts & PanelParts): View {
  const { thread, place, before } = parts;
  const { id } = thread.conversation;
  const reloads = reloadsOn('thread');
  return html`
    <section class="thread-pane" aria-label="Conversation">
      <p class="back">
        <a href=${hrefAt('/conversations', place)}>← <span>All conversations</span></a>
      </p>
      <header
        id="thread-head"
        class="live"
        data-live
        hx-get=${threadHref(id, place, {}, '/head')}
        hx-trigger=${reloads}
      >
        ${headFragment(parts)}
      </header>
      ${contactPanel(parts)}
      <div
        id="thread"
        class="live thread"
        data-live
        data-follow
        tabindex="0"
        role="region"
        aria-label="Messages"
        hx-get=${threadHref(id, place, { before }, '/items')}
        hx-trigger=${reloads}
      >
        ${itemsFragment(parts)}
      </div>
      ${formView(parts)}
    </section>
  `;
}

/** The reply form, or the form that was opened in its place. */
function formView(parts: PageParts & ThreadParts & PanelParts): View {
  const { thread, isClosing = false, paying, form } = parts;
  // Nothing can be sent, but notes can be written.
  if (thread.conversation.status === 'closed') return composer(parts, form);
  if (paying) return paymentForm(parts, paying);
  return isClosing ? closeForm(parts, form) : composer(parts, form);
}

/** The customer, the state of the conversation, and its actions. */
export const headFragment = (parts: ThreadParts): View => {
  const { thread, place, now } = parts;
  const { conversation, contact, takenByName } = thread;
  return html`
    <div class="head-title">
      ${avatar(customerName(contact))}
      <div class="head-who">
        <h2 dir="auto" title=${customerName(contact)}>${customerName(contact)}</h2>
        <div class="head-state">
          ${holderStatus(conversation, takenByName)}
          ${presenceView({ conversationId: conversation.id, place, present: thread.present })}
        </div>
      </div>
      ${
        thread.newerConversationId === null
          ? null
          : html`
            <a id="newer" href=${threadHref(thread.newerConversationId, place)}>
              Newer conversation
            </a>
          `
      }
      ${conversation.status === 'closed' ? null : actionsView(parts)}
    </div>
    <a class="to-newest" href="#newest">Newest message</a>
    ${
      conversation.outcome === null
        ? null
        : html`
          <p class="outcome">
            <b>${VERDICT_LABELS[conversation.outcome.verdict]}</b>, closed by <bdi>
              ${actorName(conversation.outcome.closedBy)}
            </bdi> ${timeView(conversation.outcome.closedAt, now)}
          </p>
        `
    }
  `;
};

const isHeldBy = ({ status, takenBy }: Conversation, memberId: string) =>
  status === 'human_active' && takenBy === memberId;

/** Frequent actions are in the row. A menu has the rest, and what a phone has no room for. */
function actionsView({ signedIn, thread, place }: ThreadParts): View {
  const { conversation, takenByName } = thread;
  const href = (path: string) => threadHref(conversation.id, place, {}, path);
  const takeOver = takenByName === null ? 'Take over' : `Take over from ${takenByName}`;
  const sync = { 'hx-sync': 'this:drop' };
  return html`
    ${
      isHeldBy(conversation, signedIn.member.id)
        ? null
        : postButton(signedIn, {
            action: href('/take-over'),
            label: html`<span>${takeOver}</span>`,
            button: { id: 'do-take-over', class: 'small', title: takeOver },
            form: sync,
          })
    }
    <a id="do-close" role="button" class="small secondary outline" href=${href('/close')}>Close…</a>
    <button
      type="button"
      class="head-more small secondary"
      popovertarget="thread-actions"
      aria-label="Actions"
    >
      ${icon('ellipsis')}
    </button>
    <div id="thread-actions" popover="auto">
      ${
        conversation.status === 'ai_active'
          ? null
          : postButton(signedIn, {
              action: href('/hand-back'),
              label: 'Hand back to the agent',
              button: { id: 'do-hand-back', class: 'secondary outline' },
              form: sync,
            })
      }
      <a id="do-payment" role="button" class="secondary outline" href=${href('/payment-link')}>
        Payment link…
      </a>
      <a class="close-too secondary outline" role="button" href=${href('/close')}>Close…</a>
    </div>
  `;
}
