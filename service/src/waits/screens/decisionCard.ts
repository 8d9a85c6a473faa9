import { actorName } from '../../conversations/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import type { Decision } from '../../platform/decision.ts';
import { timeView } from '../../platform/html/times.ts';
import { valuesView } from '../../platform/html/values.ts';
import type { Viewer } from '../../platform/html/viewer.ts';
import { isOpen, type Wait } from '../index.ts';
import { decisionForm } from './decideForm.ts';
import { resumeInWords, waitBadge } from './waitWords.ts';

export interface CardParts {
  readonly signedIn: Viewer;
  readonly now: Date;
  /** Where the decision is posted. */
  readonly action: string;
  /** Whether the card links to the wait's own page. True by default; false on that page. */
  readonly hasLink?: boolean;
}

const MAX_NAME_CHARACTERS = 80;
/** Fits into the height that details have, also on a phone. */
const MAX_SHORT_CHARACTERS = 250;

/** A workflow's question to the team, which a person decides, or has decided. */
export function decisionCard(wait: Wait, parts: CardParts): View {
  const { id, message, details } = wait;
  const { now, hasLink = true } = parts;
  const name = message.slice(0, MAX_NAME_CHARACTERS).toWellFormed();
  return html`
    <article
      class=${isOpen(wait) ? 'approval waiting' : 'approval'}
      id=${id}
      tabindex=${isOpen(wait) ? -1 : null}
      aria-label=${`Decision: ${name}`}
    >
      <header><span>A workflow asks</span> ${waitBadge(wait)}</header>
      <p class="text question" dir="auto" id=${`question-${id}`}>${message}</p>
      ${detailsView(details)}
      <p class="muted">
        Asked ${timeView(wait.createdAt, now)} by <bdi>
          ${actorName(wait.createdBy)}
        </bdi>, for a workflow at <b class="host">${wait.resumeHost}</b>.${
          isOpen(wait) ? html` Expires ${timeView(wait.expiresAt, now)}.` : null
        }
      </p>
      ${isOpen(wait) ? waitForm(wait, parts) : endView(wait, now)}
      ${
        hasLink
          ? html`
            <p class="alone">
              <a href=${`/waits/${id}`}>Open this question on its own page</a>
            </p>
          `
          : null
      }
    </article>
  `;
}

/** Long details take focus, so that the keyboard can scroll them. Tab skips short ones. */
function detailsView(details: Wait['details']): View {
  if (details === null || Object.keys(details).length === 0) return null;
  const isLong = JSON.stringify(details).length > MAX_SHORT_CHARACTERS;
  return html`
    <div class="bounded" tabindex=${isLong ? 0 : null} role="group" aria-label="Details">
      ${valuesView(details)}
    </div>
  `;
}

function waitForm({ id, approveLabel, rejectLabel }: Wait, { signedIn, action }: CardParts): View {
  const attributes = { 'aria-describedby': `question-${id}` };
  return decisionForm(signedIn, {
    id,
    action,
    approve: { label: approveLabel ?? 'Approve', attributes },
    reject: { label: rejectLabel ?? 'Reject', attributes },
    note: { id: `note-${id}`, label: 'Note, for your team and the workflow (optional)' },
  });
}

const endView = (wait: Wait, now: Date): View => html`
  <p class="decided">
    ${wait.decision === null ? undecidedEnd(wait, now) : decisionView(wait.decision, now)}
  </p>
  <p class="muted">${resumeInWords(wait, now)}</p>
`;

const decisionView = ({ approved, by, note, at }: Decision, now: Date): View => html`
  ${approved ? 'Approved' : 'Rejected'} by <b><bdi>${actorName(by)}</bdi></b>, ${timeView(at, now)}.
  ${note === null ? null : html`${' '}Note: <bdi class="text">${note}</bdi>`}
`;

function undecidedEnd({ status, endedAt, cancelledBy }: Wait, now: Date): View {
  const at = timeView(endedAt, now);
  if (status === 'expired') return html`Expired ${at} without a decision.`;
  if (status === 'closed')
    return html`Ended ${at} without a decision, when the conversation was closed.`;
  return html`
    Withdrawn by <bdi>${cancelledBy ? actorName(cancelledBy) : 'the workflow'}</bdi> ${at}.
  `;
}
