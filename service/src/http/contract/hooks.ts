import { z } from 'zod';
import { DELIVERY_STATUSES, MAX_ATTEMPTS_KEPT } from '../../domain/delivery.ts';
import { EVENT_NAMES } from '../../domain/event.ts';
import { PENDING_CHOICES } from '../../domain/operations/deleteSubscription.ts';
import { operation } from './operation.ts';
import { payloadSchema } from './payloads.ts';
import { listOf, pageQuerySchema, timestampSchema } from './shared.ts';

const eventNameSchema = z.enum(EVENT_NAMES);
/** Checked by the route, so that an unknown name has an error code of its own. */
const eventTextSchema = z
  .string('must be a text')
  .meta({ description: 'A name from GET /api/hooks/events', example: 'message.received' });

const subscriptionFields = {
  id: z.string().meta({ example: 'sub_01JD6Z0000000000000000000A' }),
  event: eventNameSchema,
  target_url: z.string().meta({ example: 'https://n8n.example.com/webhook/…' }),
  source: z.string(),
  revision: z.int().meta({ description: '1 at first, and one more each time it is revived' }),
  status: z
    .enum(['active', 'failing'])
    .meta({ description: 'failing: the last five deliveries or more failed; deliveries continue' }),
  consecutive_failures: z.int(),
  last_delivery_at: timestampSchema.nullable(),
  created_at: timestampSchema,
};
const secretSchema = z
  .string()
  .meta({ description: 'Signing secret; shown this once', example: 'whsec_…' });
const subscriptionSchema = z.strictObject(subscriptionFields).meta({ id: 'Subscription' });

const attemptSchema = z.strictObject({
  number: z.int(),
  at: timestampSchema,
  status_code: z.int().nullable().meta({ description: 'null when no answer came' }),
  duration_ms: z.int(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable().meta({ description: 'At most 4 KiB of the answer' }),
  trigger: z.enum(['automatic', 'manual']),
});
const deliverySchema = z
  .strictObject({
    id: z.string().meta({ example: 'dlv_01JD6Z0000000000000000000A' }),
    event_id: z.string(),
    event: eventNameSchema,
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.array(attemptSchema).meta({
      description: `The newest ${MAX_ATTEMPTS_KEPT} at most; number tells how many there were`,
    }),
    next_attempt_at: timestampSchema.nullable(),
    created_at: timestampSchema,
  })
  .meta({ id: 'Delivery' });

const common = { tag: 'Subscriptions', auth: 'key' } as const;

export const listEvents = operation({
  ...common,
  id: 'listEvents',
  method: 'get',
  path: '/hooks/events',
  summary: 'The list of events',
  extension: false,
  status: 200,
  answer: listOf(
    z.strictObject({ name: eventNameSchema, description: z.string(), sample: payloadSchema }),
  ),
  errors: [],
});

export const getSample = operation({
  ...common,
  id: 'getSample',
  method: 'get',
  path: '/hooks/sample',
  summary: 'A sample payload with the exact field names',
  extension: false,
  query: z.object({ event: eventTextSchema }),
  status: 200,
  answer: payloadSchema,
  errors: ['unknown_event'],
});

export const createSubscription = operation({
  ...common,
  id: 'createSubscription',
  adds: 'data',
  method: 'post',
  path: '/hooks',
  summary: 'Subscribe an address to an event',
  description:
    'The answer shows the signing secret, once. Nothing is sent before the call has been answered. A subscription with the same event, target_url and source that was deleted less than 60 seconds ago is revived: it keeps its id and its deliveries, and what it is owed is sent, signed with the new secret.',
  extension: false,
  body: z
    .object({
      event: eventTextSchema,
      target_url: z
        .string('must be a text')
        .min(1, 'must not be empty')
        .max(2048, 'must have at most 2048 characters')
        .meta({ description: 'https:// and public' }),
      source: z
        .string('must be a text')
        .max(64, 'must have at most 64 characters')
        .default('')
        .meta({ description: 'Who subscribes, in free text' }),
    })
    .meta({
      example: {
        event: 'message.received',
        target_url: 'https://n8n.example.com/webhook/abc',
        source: 'n8n',
      },
    }),
  status: 201,
  answer: z
    .strictObject({ ...subscriptionFields, secret: secretSchema })
    .meta({ id: 'CreatedSubscription' }),
  errors: [
    'unknown_event',
    'subscription_exists',
    'subscription_limit_reached',
    'target_url_invalid',
    'target_url_not_https',
    'target_url_not_public',
    'target_url_unresolvable',
    'idempotency_key_not_allowed',
  ],
  noIdempotencyKey: true,
});

export const listSubscriptions = operation({
  ...common,
  id: 'listSubscriptions',
  method: 'get',
  path: '/hooks',
  summary: "The workspace's subscriptions, newest first",
  extension: false,
  query: pageQuerySchema,
  status: 200,
  answer: listOf(subscriptionSchema),
  errors: [],
});

export const deleteSubscription = operation({
  ...common,
  id: 'deleteSubscription',
  method: 'delete',
  path: '/hooks/:id',
  summary: 'Unsubscribe',
  description:
    'Nothing more is sent. For 60 seconds the service keeps what is pending and what is emitted: creating a subscription with the same event, target_url and source in that time revives this one under its id, with a new secret. After that, what is pending is cancelled.',
  extension: false,
  query: z.object({
    pending: z
      .enum(PENDING_CHOICES, `must be one of ${PENDING_CHOICES.join(', ')}`)
      .default('keep')
      .meta({
        description: 'cancel: what is pending is cancelled at once, and nothing can be revived',
        example: 'keep',
      }),
    revision: z.coerce
      .number('must be a number')
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .optional()
      .meta({
        description:
          'Deletes this revision only: when the subscription was revived since, nothing happens and deleted is false',
      }),
  }),
  status: 200,
  answer: z.strictObject({
    id: z.string(),
    deleted: z.boolean().meta({ description: 'false: it has a later revision than the given one' }),
  }),
  errors: ['not_found'],
});

export const listDeliveries = operation({
  ...common,
  id: 'listDeliveries',
  method: 'get',
  path: '/hooks/:id/deliveries',
  summary: 'Recent deliveries and errors, newest first',
  extension: false,
  query: pageQuerySchema.extend({
    status: z.enum(DELIVERY_STATUSES, `must be one of ${DELIVERY_STATUSES.join(', ')}`).optional(),
  }),
  status: 200,
  answer: listOf(deliverySchema),
  errors: ['not_found'],
});

export const sendTestEvent = operation({
  ...common,
  id: 'sendTestEvent',
  adds: 'data',
  method: 'post',
  path: '/hooks/:id/test',
  summary: 'Send a sample of the event, signed and delivered as a real one',
  extension: true,
  status: 201,
  answer: deliverySchema,
  errors: ['not_found'],
});

export const rotateSecret = operation({
  ...common,
  id: 'rotateSecret',
  method: 'post',
  path: '/hooks/:id/rotate-secret',
  summary: 'Give the subscription a new secret',
  description:
    'For 24 hours deliveries carry a signature of both the new and the replaced secret, the new one first. An n8n workflow learns the new secret when it is unpublished and published again: do that within the 24 hours. At most five secrets sign at a time.',
  extension: true,
  status: 200,
  answer: z
    .strictObject({
      ...subscriptionFields,
      secret: secretSchema,
      previous_secret_expires_at: timestampSchema,
      notice: z.string(),
    })
    .meta({ id: 'RotatedSubscription' }),
  errors: ['not_found', 'secret_limit_reached', 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});

export const revokePreviousSecrets = operation({
  ...common,
  id: 'revokePreviousSecrets',
  method: 'post',
  path: '/hooks/:id/revoke-previous-secrets',
  summary: 'End the overlap after a rotation at once',
  description:
    'From now on the newest secret signs alone. A receiver that still has a replaced one refuses what comes; give it the new one first, unless the replaced one has leaked.',
  extension: true,
  status: 200,
  answer: z
    .strictObject({
      ...subscriptionFields,
      revoked: z.int().meta({
        description: 'How many replaced secrets have stopped signing; 0 when there was none',
      }),
    })
    .meta({ id: 'SubscriptionWithRevokedSecrets' }),
  errors: ['not_found'],
});

export const redeliver = operation({
  ...common,
  id: 'redeliver',
  method: 'post',
  path: '/hooks/:id/deliveries/:delivery_id/redeliver',
  summary: 'Send a finished delivery again',
  description:
    'Takes a dlv_ or an evt_ id. The same event id and body go out, with X-Service-Redelivery: manual and, the same for all attempts that follow from this call, X-Service-Redelivery-Round.',
  extension: true,
  status: 200,
  answer: deliverySchema,
  errors: ['not_found', 'delivery_pending'],
});

export const recoverDeliveries = operation({
  ...common,
  id: 'recoverDeliveries',
  adds: 'data',
  method: 'post',
  path: '/hooks/:id/recover',
  summary: 'Send again all that failed since a time and never succeeded',
  description:
    'What counts is when the last attempt failed; the event may be older. What is pending or delivered is left alone, so a repeat of the call sends nothing twice. The same event ids and bodies go out; a receiver that deduplicates may drop what it has taken after all.',
  extension: true,
  body: z
    .object({
      since: z.iso.datetime({
        offset: true,
        error: 'must be an ISO 8601 time with offset, such as 2026-11-21T10:00:00Z',
      }),
    })
    .meta({ example: { since: '2026-11-21T10:00:00.000+00:00' } }),
  status: 200,
  answer: z.strictObject({
    redelivered: z.int().meta({ description: 'How many deliveries this very call has queued' }),
  }),
  errors: ['not_found'],
  inSteps: true,
});
