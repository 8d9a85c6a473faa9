import type { Delivery } from '../../domain/delivery.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { SubscriptionHealth } from '../../domain/operations/listSubscriptionHealth.ts';
import type { Page } from '../../domain/page.ts';
import { signingSecrets, type Subscription } from '../../domain/subscription.ts';
import { formProblem, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { deliveriesList } from './deliveriesList.ts';
import { addressOf, queryOf, type DeliveriesView } from './deliveriesView.ts';
import { liveArea, liveSection } from './live.ts';
import { recoverForm } from './recoverForm.ts';
import { subscriptionState } from './subscriptionState.ts';

/** What a page shows beside the subscription and its deliveries. */
export interface SubscriptionPageExtras {
  readonly view: DeliveriesView;
  readonly notice?: unknown;
  /** How many deliveries were just sent again. */
  readonly recovered?: number | undefined;
  /** A secret that was just made. */
  readonly once?: View;
  readonly problem?: string;
  readonly recoverForm?: { readonly values: FormValues; readonly problems: Problems };
}

export interface SubscriptionPageParts extends SubscriptionPageExtras {
  readonly health: SubscriptionHealth;
  readonly deliveries: Page<Delivery>;
  readonly now: Date;
}

/** One subscription, what can be done with it, and its deliveries. */
export function subscriptionPage(signedIn: SignedIn, parts: SubscriptionPageParts): View {
  const { health, view, now, notice, recovered, once, problem } = parts;
  const { subscription } = health;
  const live = `/keys/subscriptions/${subscription.id}/live`;
  return teamPage(
    signedIn,
    { title: `${subscription.event} subscription`, section: 'keys', notice },
    liveArea(html`
      <p class="keys-back"><a href="/keys">← API keys and subscriptions</a></p>
      <h1>${subscription.event}</h1>
      ${recovered === undefined ? null : html`<p class="notice" role="status">${recoveredInWords(recovered)}</p>`}
      ${formProblem(problem)}
      ${once}
      <section class="keys-block" aria-label="State">${liveSection('state', `${live}/state`, subscriptionState(health, now))}</section>
      <section class="keys-block" aria-label="Actions">
        ${actions(signedIn, subscription, now)}
        ${recoverForm(signedIn, subscription.id, now, parts.recoverForm)}
      </section>
      <section class="keys-block" aria-labelledby="deliveries-title">
        <h2 id="deliveries-title">Deliveries</h2>
        ${filters(subscription.id, view)}
        ${liveSection('deliveries', `${live}/deliveries${queryOf(view)}`, deliveriesList(signedIn, { ...parts, subscriptionId: subscription.id }))}
      </section>
    `),
  );
}

const recoveredInWords = (count: number) =>
  count === 0
    ? 'Nothing to send again: no delivery since then has failed for good.'
    : `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} on the way again.`;

const actions = (signedIn: SignedIn, subscription: Subscription, now: Date): View => {
  const { id, event, targetUrl } = subscription;
  return html`
  <div class="row">
    <form method="post" action=${`/keys/subscriptions/${id}/test`}>${csrfField(signedIn)}<button class="small">Send a test event</button></form>
    <form method="post" action=${`/keys/subscriptions/${id}/rotate-secret`} data-confirm="Make a new signing secret? The present one signs too for 24 hours; the receiver must have the new one by then.">
      ${csrfField(signedIn)}<button class="small secondary outline">Rotate the secret</button>
    </form>
    ${signingSecrets(subscription, now).length > 1 ? revokeForm(signedIn, id) : null}
    <form method="post" action=${`/keys/subscriptions/${id}/remove`} data-confirm=${`Remove the subscription of ${event} to ${targetUrl}? Nothing more is sent there, and its deliveries are no longer listed. The same subscription made again within 10 minutes takes over what is pending.`}>
      ${csrfField(signedIn)}<button class="small secondary outline">Remove</button>
    </form>
  </div>
`;
};

const revokeForm = (signedIn: SignedIn, id: string): View => html`
  <form method="post" action=${`/keys/subscriptions/${id}/revoke-previous-secrets`} data-confirm="Have only the newest secret sign from now on? A receiver that still has a replaced one refuses what comes.">
    ${csrfField(signedIn)}<button class="small secondary outline">Revoke the replaced secret</button>
  </form>
`;

const FILTERS = [
  { status: undefined, label: 'All' },
  { status: 'failed', label: 'Failed' },
  { status: 'pending', label: 'Pending' },
  { status: 'delivered', label: 'Delivered' },
] as const;

const filters = (id: string, view: DeliveriesView): View => html`
  <nav class="keys-filters" aria-label="Deliveries by status">
    <ul>
      ${FILTERS.map(({ status, label }) => html`<li><a href=${addressOf(id, { status })} aria-current=${status === view.status ? 'true' : null}>${label}</a></li>`)}
    </ul>
  </nav>
`;

/** In place of a subscription that was removed while its page was open. */
export const removedView: View = html`<p>This subscription was removed. <a href="/keys">Back to API keys and subscriptions</a></p>`;
