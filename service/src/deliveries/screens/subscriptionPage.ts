import type { Delivery } from '../delivery.ts';
import { memberNote, type SignedIn } from '../../team/index.ts';
import type { SubscriptionHealth } from '../operations/subscriptions.ts';
import type { Page } from '../../platform/http/page.ts';
import { addressWith, backLink } from '../../platform/html/components.ts';
import { formProblem } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import { deliveriesList, deliveryFilters, type DeliveriesView } from './deliveriesList.ts';
import { deliverySearch } from './delivery/search.ts';
import { editForm } from './editSubscription.ts';
import { subscriptionActions } from './subscriptionActions.ts';
import type { SubscriptionForm } from './subscriptionFields.ts';
import { eventsInWords, subscriptionState } from './subscriptionState.ts';

/** What the page shows besides the subscription and its deliveries. */
export interface SubscriptionPageExtras {
  readonly view?: DeliveriesView;
  readonly notice?: unknown;
  /** Says how many deliveries the member has just sent again. */
  readonly recovered?: View;
  /** A secret that was just created. */
  readonly shownOnce?: View;
  readonly problem?: string;
  readonly editForm?: SubscriptionForm;
}

interface SubscriptionPage extends SubscriptionPageExtras {
  readonly health: SubscriptionHealth;
  readonly deliveries: Page<Delivery>;
  /** As in `DeliveriesPage`. */
  readonly conversations: ReadonlyMap<string, string>;
  readonly now: Date;
}

/** One subscription, its actions, and its deliveries. */
export function subscriptionPage(signedIn: SignedIn, page: SubscriptionPage): View {
  const {
    health,
    deliveries,
    conversations,
    view = {},
    now,
    notice,
    recovered,
    shownOnce,
    problem,
  } = page;
  const { subscription } = health;
  const subscriptionId = subscription.id;
  const name = eventsInWords(subscription);
  const live = `/keys/subscriptions/${subscriptionId}/live`;
  return teamPage(
    signedIn,
    { title: `${name} subscription`, section: 'keys', notice },
    html`
      ${backLink('/keys', 'Keys and subscriptions')}
      <h1>${name}</h1>
      ${recovered ? html`<p class="notice" role="status">${recovered}</p>` : null}
      ${formProblem(problem)}
      ${shownOnce}
      <section class="block" aria-label="State">
        ${liveSection('keys', 'state', `${live}/state`, subscriptionState(signedIn, health, now))}
      </section>
      <section class="block" aria-label="Actions">
        ${subscriptionActions(signedIn, subscription, now)}
        ${editForm(signedIn, subscription, page.editForm)}
        ${memberNote(signedIn, 'An owner can change, test, pause and remove this subscription.')}
      </section>
      <section class="block" aria-labelledby="deliveries-title">
        <h2 id="deliveries-title">Deliveries</h2>
        ${deliverySearch()}
        ${deliveryFilters(subscriptionId, view)}
        ${liveSection(
          'keys',
          'deliveries',
          addressWith(`${live}/deliveries`, { ...view }),
          deliveriesList(signedIn, { subscriptionId, deliveries, conversations, view, now }),
        )}
      </section>
    `,
  );
}

/** Shown in place of a subscription that was removed while its page was open. */
export const removedView: View = html`
  <p>This subscription was removed. <a href="/keys">Back to keys and subscriptions</a></p>
`;
