import type { Delivery } from '../delivery.ts';
import type { SignedIn } from '../../team/index.ts';
import type { SubscriptionHealth } from '../operations/subscriptions.ts';
import type { Page } from '../../platform/http/page.ts';
import { addressWith, backLink, csrfField } from '../../platform/html/components.ts';
import {
  field,
  formProblem,
  newForm,
  type FormState,
  type FormValues,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveArea, liveSection } from '../../platform/html/liveSection.ts';
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
  /** How many deliveries are being sent again. */
  readonly recovered?: number | undefined;
  /** A secret that was just created. */
  readonly once?: View;
  readonly problem?: string;
  readonly recoverForm?: FormState;
  readonly editForm?: SubscriptionForm;
}

export interface SubscriptionPage extends SubscriptionPageExtras {
  readonly health: SubscriptionHealth;
  readonly deliveries: Page<Delivery>;
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
    once,
    problem,
  } = page;
  const { subscription } = health;
  const { id: subscriptionId } = subscription;
  const name = eventsInWords(subscription);
  const live = `/keys/subscriptions/${subscriptionId}/live`;
  return teamPage(
    signedIn,
    { title: `${name} subscription`, section: 'keys', notice, isLive: true },
    liveArea(html`
      ${backLink('/keys', 'API keys and subscriptions')}
      <h1>${name}</h1>
      ${recovered === undefined ? null : html`<p class="notice" role="status">${recoveredInWords(recovered)}</p>`}
      ${formProblem(problem)}
      ${once}
      <section class="block" aria-label="State">
        ${liveSection('keys', 'state', `${live}/state`, subscriptionState(health, now))}
      </section>
      <section class="block" aria-label="Actions">
        ${subscriptionActions(signedIn, subscription, now)}
        ${editForm(signedIn, subscription, page.editForm)}
        ${recoverForm(signedIn, subscriptionId, now, page.recoverForm)}
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
    `),
  );
}

const recoveredInWords = (count: number) =>
  count === 0
    ? 'There are no failed deliveries since then.'
    : `${count} failed ${count === 1 ? 'delivery is' : 'deliveries are'} being sent again.`;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Resends all deliveries that failed since a time. */
const recoverForm = (
  signedIn: SignedIn,
  id: string,
  now: Date,
  refused: FormState | undefined,
): View => html`
  <details id="recover" open=${refused !== undefined}>
    <summary class="open-form">Resend failed deliveries</summary>
    <form method="post" action=${`/keys/subscriptions/${id}/recover`} class="narrow-form">
      ${csrfField(signedIn)}
      <input type="hidden" name="offset" value="" />
      ${field({
        name: 'since',
        label: 'Failed since',
        form: refused ?? newForm({ since: inputTime(new Date(now.getTime() - DAY_MS)) }),
        help: html`Time zone: <span data-zone>UTC</span>. All deliveries that failed since then are sent again, even if their events are older.`,
        attributes: { type: 'datetime-local', required: true, 'data-own-zone': true },
      })}
      <button>Resend failed deliveries</button>
    </form>
  </details>
`;

/** A time in UTC, as `<input type="datetime-local">` takes it. */
const inputTime = (time: Date) => time.toISOString().slice(0, 16);

/** The largest offset of a time zone: 14 hours. */
const MAX_OFFSET_MINUTES = 14 * 60;
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

/**
 * The time that was entered: in UTC, or in the time zone whose offset (in minutes west of UTC)
 * app.js added to the form.
 * @returns null when it is not a time
 */
export function parseSince({ since = '', offset = '' }: FormValues): Date | null {
  const minutes = offset === '' ? 0 : Number(offset);
  const time = LOCAL_TIME.test(since) ? Date.parse(`${since}Z`) : NaN;
  if (Number.isNaN(time) || !Number.isInteger(minutes)) return null;
  return Math.abs(minutes) > MAX_OFFSET_MINUTES ? null : new Date(time + minutes * 60_000);
}

/** Shown in place of a subscription that was removed while its page was open. */
export const removedView: View = html`<p>This subscription was removed. <a href="/keys">Back to API keys and subscriptions</a></p>`;
