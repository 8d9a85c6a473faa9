import { postButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { exactTimeView, timeView } from '../../platform/html/times.ts';
import { isOpen, type Wait } from '../index.ts';
import type { CardParts } from './decisionCard.ts';
import { replyInWords } from './waitWords.ts';

/** A quiet line of the thread: a workflow waits for the customer's reply, or has waited for it. */
export const replyLine = (
  wait: Wait,
  { signedIn, now, action }: Pick<CardParts, 'signedIn' | 'now' | 'action'>,
): View =>
  isOpen(wait)
    ? html`
        <div class="note wait" id=${wait.id}>
          <span>
            A workflow waits for the customer’s reply until ${exactTimeView(wait.expiresAt)}.
          </span>
          ${postButton(signedIn, {
            action,
            label: 'Cancel',
            confirm:
              'The workflow then goes on without an answer, and what the customer has written is left to the agent or your team. Cancel the question?',
            button: {
              id: `cancel-${wait.id}`,
              class: 'small secondary outline',
              'aria-label': 'Cancel the question of the workflow',
            },
            form: { 'hx-sync': 'this:drop' },
          })}
        </div>
      `
    : html`
        <p class="note" id=${wait.id}>
          ${replyInWords(wait, now)} · ${timeView(wait.endedAt, now)} · <a
            href=${`/waits/${wait.id}`}
          >
            Details<span class="visually-hidden"> of the question of the workflow</span>
          </a>
        </p>
      `;
