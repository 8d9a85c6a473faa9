import type { Delivery } from './delivery.ts';
import { subscriptionStatus, type Subscription } from './subscription.ts';

export const subscriptionJson = (subscription: Subscription) => ({
  id: subscription.id,
  event: subscription.event,
  target_url: subscription.targetUrl,
  source: subscription.source,
  revision: subscription.revision,
  status: subscriptionStatus(subscription),
  consecutive_failures: subscription.consecutiveFailures,
  last_delivery_at: subscription.lastDeliveryAt,
  created_at: subscription.createdAt,
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
