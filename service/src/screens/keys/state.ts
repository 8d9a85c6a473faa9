import type { Attempt } from '../../domain/delivery.ts';
import { subscriptionStatus, type Subscription } from '../../domain/subscription.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';

/** A subscription's state in one word. */
export const stateBadge = (subscription: Subscription): View =>
  subscriptionStatus(subscription) === 'failing'
    ? html`<span class="badge bad">Failing</span>`
    : html`<span class="badge good">Active</span>`;

/** Why deliveries fail and what to do, while they do. */
export function failureView(
  subscription: Subscription,
  lastFailure: Attempt | null,
  now: Date,
): View {
  const { consecutiveFailures: count } = subscription;
  if (count === 0) return null;
  const failing = subscriptionStatus(subscription) === 'failing';
  return html`
    <div class=${failing ? 'keys-failing' : 'muted'}>
      <p>${count === 1 ? 'The last delivery failed' : `The last ${countInWords(count)} deliveries failed`}; deliveries continue.</p>
      ${lastFailure === null ? null : html`<p>Last reason, ${timeView(lastFailure.at, now)}: <bdi>${lastFailure.error}</bdi> ${adviceOn(lastFailure)}</p>`}
    </div>
  `;
}

const WORDS = ['', '', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const countInWords = (count: number) => WORDS[count] ?? String(count);

/** What a person does about an attempt that failed. */
function adviceOn({ statusCode }: Attempt): string {
  // the reason itself says what to do first
  if (statusCode === null) return 'Then send again what failed.';
  if (statusCode >= 500) return 'Check that the receiver is running; then send again what failed.';
  return '';
}
