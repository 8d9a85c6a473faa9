import type { Delivery } from './delivery.ts';
import { ownerJson } from '../platform/http/ownerView.ts';
import { definedOnly } from '../platform/json.ts';
import { tidyFilter, type Filter } from './filter.ts';
import { eventsOf, subscriptionStatus, type Subscription } from './subscription.ts';

export const subscriptionJson = (subscription: Subscription) => ({
  id: subscription.id,
  event: subscription.event,
  events: [...eventsOf(subscription)],
  filter: subscription.filter ? filterJson(subscription.filter) : null,
  target_url: subscription.targetUrl,
  source: subscription.source,
  owner: subscription.owner ? ownerJson(subscription.owner) : null,
  paused: subscription.paused ?? false,
  catch_up: subscription.catchUp ?? false,
  revision: subscription.revision,
  status: subscriptionStatus(subscription),
  consecutive_failures: subscription.consecutiveFailures,
  last_delivery_at: subscription.lastDeliveryAt,
  created_at: subscription.createdAt,
});

const filterJson = (filter: Filter) =>
  definedOnly({
    channels: filter.channels?.slice(),
    statuses: filter.statuses?.slice(),
    funnel_stages: filter.funnelStages?.slice(),
    senders: filter.senders?.slice(),
    received_as: filter.receivedAs?.slice(),
    conversation_ids: filter.conversationIds?.slice(),
  });

/** The filter in a request; null when it filters nothing. */
export const filterFrom = (given: ReturnType<typeof filterJson> | null): Filter | null =>
  given &&
  tidyFilter({
    channels: given.channels,
    statuses: given.statuses,
    senders: given.senders,
    receivedAs: given.received_as,
    funnelStages: given.funnel_stages,
    conversationIds: given.conversation_ids,
  });

export const deliveryJson = (delivery: Delivery) => ({
  id: delivery.id,
  event_id: delivery.eventId,
  event: delivery.event,
  status: delivery.status,
  attempts: delivery.attempts.map((attempt) => ({
    number: attempt.number,
    at: attempt.at,
    status_code: attempt.statusCode,
    duration_ms: attempt.durationMs,
    error: attempt.error,
    response_excerpt: attempt.responseExcerpt,
    trigger: attempt.trigger,
  })),
  next_attempt_at: delivery.nextAttemptAt,
  created_at: delivery.createdAt,
});
