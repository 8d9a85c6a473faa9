import type { Attempt } from '../delivery.ts';
import { MAX_UNDELIVERED, type SubscriptionHealth } from '../operations/subscriptions.ts';
import { recoverHref, subscriptionHref } from './deliveriesList.ts';
import { ownerInWords } from '../../platform/owner.ts';
import {
  eventsOf,
  MAX_SUBSCRIPTIONS,
  signingSecrets,
  type Subscription,
  subscriptionStatus,
} from '../subscription.ts';
import { filterInWords } from './filterLabels.ts';
import { breakable } from '../../platform/html/breakable.ts';
import { badge } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { exactTimeView, timeView } from '../../platform/html/times.ts';
import { isOwner, type SignedIn } from '../../team/index.ts';
import { sparkLine, type DailyCounts } from '../../overview/index.ts';

/** For headings and links: `message.received and 2 more`. */
export function eventsInWords(subscription: Subscription): string {
  const { length } = eventsOf(subscription);
  return length === 1 ? subscription.event : `${subscription.event} and ${length - 1} more`;
}

function stateBadge(subscription: Subscription): View {
  if (subscription.paused) return badge('Paused', 'attention');
  return subscriptionStatus(subscription) === 'failing'
    ? badge('Failing', 'bad')
    : badge('Active', 'good');
}

/** Where a subscription sends its events, and how its deliveries are doing. */
export const subscriptionState = (
  signedIn: SignedIn,
  { subscription, lastFailure, undelivered }: SubscriptionHealth,
  now: Date,
): View => html`
  <dl class="facts-list">
    <dt>State</dt>
    <dd>
      ${stateBadge(subscription)}
      ${subscription.paused ? ' New events are not kept for it. Pending deliveries wait.' : null}
    </dd>
    <dt>Events</dt><dd>${eventsOf(subscription).join(', ')}</dd>
    ${
      subscription.filter
        ? html`<dt>Only</dt><dd><bdi>${filterInWords(subscription.filter)}</bdi></dd>`
        : null
    }
    <dt>Endpoint URL</dt><dd><bdi>${breakable(subscription.targetUrl)}</bdi></dd>
    <dt>Source</dt>
    <dd>${subscription.source === '' ? 'none' : html`<bdi>${subscription.source}</bdi>`}</dd>
    ${
      subscription.owner
        ? html`
            <dt>Published by</dt>
            <dd>
              <bdi>${ownerInWords(subscription.owner)}</bdi>. ${
                subscription.isReleased
                  ? 'Another n8n can take over by publishing a workflow with this URL.'
                  : 'Publishing it again overwrites changes made here.'
              }
            </dd>
          `
        : null
    }
    <dt>After an outage</dt>
    <dd>
      ${subscription.catchUp ? 'what was missed in 24 hours is sent' : 'nothing is sent by itself'}
    </dd>
    <dt>Created</dt><dd>${timeView(subscription.createdAt, now)}</dd>
    <dt>Last delivery</dt>
    <dd>
      ${
        subscription.lastDeliveryAt === null
          ? 'none yet'
          : timeView(subscription.lastDeliveryAt, now)
      }
    </dd>
    ${previousSecrets(subscription, now)}
  </dl>
  ${failureView({ subscription, lastFailure, undelivered }, now)}
  ${undeliveredView(signedIn, subscription, undelivered)}
`;

/** Shown for an active subscription too: after an outage, what failed has still not arrived. */
function undeliveredView(signedIn: SignedIn, { id }: Subscription, count: number): View {
  if (count === 0) return null;
  const words =
    count === 1
      ? 'One event has not arrived.'
      : count < MAX_UNDELIVERED
        ? `${count} events have not arrived.`
        : `${MAX_UNDELIVERED} events or more have not arrived.`;
  const next = isOwner(signedIn.member)
    ? html`<a id="to-recover" href=${recoverHref(id)}>Resend failed deliveries</a>`
    : `An owner can resend ${count === 1 ? 'it' : 'them'}.`;
  return html`<p class="undelivered">${words} ${next}</p>`;
}

function previousSecrets(subscription: Subscription, now: Date): View {
  const ends = signingSecrets(subscription, now).flatMap(({ expiresAt }) => expiresAt ?? []);
  if (ends.length === 0) return null;
  // The secret that was replaced last comes first, and is valid longest.
  return ends.length === 1
    ? html`<dt>Previous secret</dt><dd>valid until ${exactTimeView(ends[0]!)}</dd>`
    : html`
        <dt>Previous secrets</dt>
        <dd>${ends.length} still valid, the last until ${exactTimeView(ends[0]!)}</dd>
      `;
}

/** Why deliveries fail, and what to do about it. */
function failureView(
  { subscription, lastFailure, undelivered }: SubscriptionHealth,
  now: Date,
): View {
  const { consecutiveFailures: count } = subscription;
  if (count === 0) return null;
  const isFailing = subscriptionStatus(subscription) === 'failing';
  return html`
    <div class=${isFailing ? 'failing' : 'muted'}>
      <p>
        ${count === 1 ? 'The last delivery failed.' : `The last ${count} deliveries failed.`}
        ${subscription.paused ? null : ' New events are still sent.'}
      </p>
      ${lastFailure === null ? null : lastErrorView(lastFailure, undelivered, now)}
    </div>
  `;
}

function lastErrorView(failure: Attempt, undelivered: number, now: Date): View {
  const advice = adviceOn(failure, undelivered);
  return html`
    <p>Last error, ${timeView(failure.at, now)}: <bdi>${failure.error}</bdi> ${advice}</p>
  `;
}

/** After test events alone, there is nothing to resend. */
function adviceOn({ statusCode }: Attempt, undelivered: number): string {
  // Without a response, the error says what to do first.
  if (statusCode === null) return undelivered > 0 ? 'Then resend the failed deliveries.' : '';
  if (statusCode >= 500)
    return `Check that the receiver is running${undelivered > 0 ? ', then resend the failed deliveries' : ''}.`;
  return '';
}

/**
 * How many subscriptions each source has, and the state of each subscription.
 * @param week the attempts of each subscription in the last seven days
 */
export const subscriptionsList = (
  all: readonly SubscriptionHealth[],
  week: DailyCounts,
  now: Date,
): View => html`
  <p>
    <strong>${all.length} of ${MAX_SUBSCRIPTIONS}</strong>
    ${
      all.length === 0
        ? html`. Publish a workflow in n8n to see its subscriptions here, such as one of the <a href="/examples">examples</a>.`
        : html`: ${bySource(all)}`
    }
  </p>
  ${
    all.length === 0
      ? null
      : html`
          <ul class="bare records">
            ${all.map((each) => subscriptionItem(each, week, now))}
          </ul>
        `
  }
`;

function bySource(all: readonly SubscriptionHealth[]): View {
  const groups = [...Map.groupBy(all, ({ subscription }) => subscription.source)];
  return groups.map(
    ([source, { length }], index) => html`
      ${index === 0 ? '' : ', '}${length} ${
        source === '' ? 'without a source' : html`from <bdi>${source}</bdi>`
      }
    `,
  );
}

function originOf({ owner, source }: Subscription): View {
  if (owner) return html`From <bdi>${ownerInWords(owner)}</bdi>`;
  return source === '' ? 'Without a source' : html`From <bdi>${source}</bdi>`;
}

const subscriptionItem = (
  { subscription, lastFailure, undelivered }: SubscriptionHealth,
  week: DailyCounts,
  now: Date,
): View => html`
  <li>
    <div class="what">
      <p>
        <a id=${subscription.id} href=${subscriptionHref(subscription.id)}>
          <strong>${eventsInWords(subscription)}</strong>
        </a>${' '}
        ${stateBadge(subscription)}
        ${undelivered > 0 ? badge('Not all arrived', 'attention') : null}
      </p>
      <p class="url"><bdi>${subscription.targetUrl}</bdi></p>
      <p class="muted">
        ${originOf(subscription)},${' '}
        ${
          subscription.lastDeliveryAt === null
            ? 'no deliveries yet'
            : html`last delivery ${timeView(subscription.lastDeliveryAt, now)}`
        }
      </p>
      ${sparkLine(week.get(subscription.id), 'attempt')}
      ${failureView({ subscription, lastFailure, undelivered }, now)}
    </div>
  </li>
`;
