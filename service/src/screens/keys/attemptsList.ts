import type { Attempt, Delivery } from '../../domain/delivery.ts';
import { html, type View } from '../html.ts';
import { exactTime } from '../times.ts';

/** Each HTTP try with what came of it. What the receiver answered is a stranger's text. */
export const attemptsList = ({ id, attempts }: Delivery): View =>
  attempts.length === 0
    ? html`<p>No attempt yet.</p>`
    : html`<ol class="keys-attempts">${attempts.map((attempt) => attemptItem(id, attempt))}</ol>`;

const attemptItem = (
  deliveryId: string,
  { number, at, statusCode, durationMs, error, responseExcerpt, trigger }: Attempt,
): View => html`
  <li>
    <p>
      <strong>${statusCode === null ? 'No answer' : `Status ${statusCode}`}</strong>${' '}
      <span class="muted">attempt ${number}, ${exactTime(at)}, took ${durationInWords(durationMs)}, ${trigger === 'manual' ? 'sent by hand' : 'automatic'}</span>
    </p>
    ${error === null || error === `The receiver answered ${statusCode}.` ? null : html`<p><bdi>${error}</bdi></p>`}
    ${responseExcerpt === null ? null : html`<pre id=${`answer-${deliveryId}-${number}`} dir="auto" tabindex="0" role="group" aria-label=${`Answer to attempt ${number}`}>${responseExcerpt}</pre>`}
  </li>
`;

const durationInWords = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
