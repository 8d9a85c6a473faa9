import { actorName } from '../../conversations/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import { timeView } from '../../platform/html/times.ts';
import type { SignedIn } from '../../team/index.ts';
import { decisionCard } from '../../waits/screens/decisionCard.ts';
import { waitBadge } from '../../waits/screens/waitWords.ts';
import type { Wait } from '../../waits/index.ts';
import { approvalCard } from '../approvalCard.ts';
import { beginningOf } from '../messageWords.ts';
import { MAX_SHOWN, type Waiting, type WaitingItem } from './listWaiting.ts';

export interface WaitingPage {
  readonly signedIn: SignedIn;
  readonly waiting: Waiting;
  readonly now: Date;
  readonly notice?: unknown;
}

/** All that waits for a decision of the team, each item with what is needed to decide it. */
export const waitingPage = (page: WaitingPage): View =>
  teamPage(
    page.signedIn,
    { title: 'Decisions', section: 'waiting', notice: page.notice },
    html`
      <h1>Decisions</h1>
      <p class="muted">
        What waits for your team: questions from workflows, and tool calls that need your approval. What has waited longest comes first.
      </p>
      ${liveSection('waiting', 'waiting-live', '/waiting/fragment', waitingFragment(page))}
    `,
  );

export const waitingFragment = (page: WaitingPage): View => {
  const { items, ended } = page.waiting;
  return html`
    ${
      items.length === 0
        ? html`
          <p class="empty">
            Nothing waits for a decision. The agent asks before it runs a <a href="/tools">tool</a> that needs an approval, and a workflow asks with the node’s action “Ask for approval and wait”.
          </p>
        `
        : null
    }
    <ol class="bare waiting-list">
      ${items.map((item) => html`<li>${itemView(item, page)}</li>`)}
    </ol>
    ${
      items.length < MAX_SHOWN
        ? null
        : html`<p class="muted">The ${MAX_SHOWN} that have waited longest are shown.</p>`
    }
    ${ended.length === 0 ? null : endedView(ended, page.now)}
  `;
};

function itemView(item: WaitingItem, { signedIn, now }: WaitingPage): View {
  const { id, conversationId, customer } = item;
  return html`
    ${
      conversationId === null
        ? html`<p class="muted">Without a conversation</p>`
        : html`
          <p class="muted">
            Conversation with <a href=${`/conversations/${conversationId}#${id}`}>
              <bdi>${customer ?? 'a customer'}</bdi>
            </a>
          </p>
        `
    }
    ${
      item.type === 'wait'
        ? decisionCard(item.wait, { signedIn, now, action: `/waiting/waits/${id}/decide` })
        : approvalCard(item.call, item.tool, {
            signedIn,
            now,
            action: `/waiting/tool-calls/${id}/decide`,
          })
    }
  `;
}

const MAX_QUESTION_EXCERPT = 120;

const endedView = (ended: readonly Wait[], now: Date): View => html`
  <section aria-labelledby="ended-title">
    <h2 id="ended-title">Questions that have ended</h2>
    <ul class="bare plain-list">
      ${ended.map(
        (wait) => html`
          <li>
            ${waitBadge(wait)} <a href=${`/waits/${wait.id}`}>
              <bdi>${beginningOf(wait.message, MAX_QUESTION_EXCERPT)}</bdi>
            </a> <span class="muted">
              ${
                wait.decision === null ? null : html`by <bdi>${actorName(wait.decision.by)}</bdi>, `
              }
              ${timeView(wait.endedAt, now)}
            </span>
          </li>
        `,
      )}
    </ul>
  </section>
`;
