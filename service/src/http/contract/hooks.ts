import { z } from 'zod';
import { DELIVERY_STATUSES, MAX_ATTEMPTS_KEPT, EVENT_NAMES } from '../../domain/delivery.ts';
import { PENDING_CHOICES } from '../../domain/operations/subscribe.ts';
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
  revision: z
    .int()
    .meta({ description: 'Starts at 1, and grows by 1 each time the subscription is revived' }),
  status: z.enum(['active', 'failing']).meta({
    description: '`failing`: at least the last five deliveries failed. Deliveries continue.',
  }),
  consecutive_failures: z.int(),
  last_delivery_at: timestampSchema.nullable(),
  created_at: timestampSchema,
};
const secretSchema = z
  .string()
  .meta({ description: 'The signing secret. It is shown only here.', example: 'whsec_…' });
const subscriptionSchema = z.strictObject(subscriptionFields).meta({ id: 'Subscription' });

const attemptSchema = z.strictObject({
  number: z.int(),
  at: timestampSchema,
  status_code: z
    .int()
    .nullable()
    .meta({ description: 'The HTTP status; null when no answer came' }),
  duration_ms: z.int(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable().meta({ description: 'The first 4 KiB of the answer' }),
  trigger: z.enum(['automatic', 'manual']),
});
const deliverySchema = z
  .strictObject({
    id: z.string().meta({ example: 'dlv_01JD6Z0000000000000000000A' }),
    event_id: z.string(),
    event: eventNameSchema,
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.array(attemptSchema).meta({
      description: `The newest ${MAX_ATTEMPTS_KEPT} attempts. \`number\` counts all of them.`,
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
  summary: 'List the events',
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
  summary: 'Get a sample payload of an event',
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
  summary: 'Create a subscription',
  description:
    'Subscribes an address to an event. The answer shows the signing secret, only this once. The service sends nothing before it has answered the call. If you deleted a subscription with the same event, `target_url` and `source` less than 60 seconds ago, the call revives it: it keeps its id and its deliveries, and pending deliveries are sent, signed with the new secret.',
  extension: false,
  body: z
    .object({
      event: eventTextSchema,
      target_url: z
        .string('must be a text')
        .min(1, 'must not be empty')
        .max(2048, 'must have at most 2048 characters')
        .meta({ description: 'A public https:// URL' }),
      source: z
        .string('must be a text')
        .max(64, 'must have at most 64 characters')
        .default('')
        .meta({ description: 'Who subscribes, as free text' }),
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
  summary: 'List subscriptions, newest first',
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
  summary: 'Delete a subscription',
  description:
    'The service sends nothing more. For 60 seconds it keeps pending deliveries and new events: creating a subscription with the same event, `target_url` and `source` in that time revives this one under its id, with a new secret. After that, they are cancelled.',
  extension: false,
  query: z.object({
    pending: z
      .enum(PENDING_CHOICES, `must be one of ${PENDING_CHOICES.join(', ')}`)
      .default('keep')
      .meta({
        description:
          '`cancel`: pending deliveries are cancelled at once, and the subscription cannot be revived',
        example: 'keep',
      }),
    revision: z.coerce
      .number('must be a number')
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .optional()
      .meta({
        description:
          'Deletes only this revision. If the subscription was revived since, nothing happens, and `deleted` is false.',
      }),
  }),
  status: 200,
  answer: z.strictObject({
    id: z.string(),
    deleted: z
      .boolean()
      .meta({ description: 'False when the subscription has a later revision than the given one' }),
  }),
  errors: ['not_found'],
});

export const listDeliveries = operation({
  ...common,
  id: 'listDeliveries',
  method: 'get',
  path: '/hooks/:id/deliveries',
  summary: 'List deliveries, newest first',
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
  summary: 'Send a test event, signed and delivered like a real one',
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
  summary: 'Rotate the signing secret',
  description:
    'For 24 hours, each delivery carries a signature with the new secret, then one with the replaced secret. An n8n workflow learns the new secret when you unpublish and publish it again: do so within the 24 hours. At most five secrets sign at a time.',
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
  summary: 'Revoke replaced secrets',
  description:
    'Ends the overlap after a rotation at once: only the newest secret signs from now on. Give each receiver the new secret first, or it will refuse deliveries. If a replaced secret has leaked, revoke it without waiting.',
  extension: true,
  status: 200,
  answer: z
    .strictObject({
      ...subscriptionFields,
      revoked: z.int().meta({
        description: 'How many replaced secrets stopped signing',
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
  summary: 'Send a delivery again',
  description:
    'Takes the `dlv_` or `evt_` id of a finished delivery and sends the same event id and body. The request carries `X-Service-Redelivery: manual`, and `X-Service-Redelivery-Round` with one value for all attempts that this call causes.',
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
  summary: 'Send failed deliveries again',
  description:
    'Sends all deliveries again whose last attempt failed since a time; the events may be older. Pending and successful deliveries are left alone, so repeating the call sends nothing twice. Event ids and bodies stay the same, so that receivers can deduplicate.',
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
    redelivered: z.int().meta({ description: 'How many deliveries this call queued' }),
  }),
  errors: ['not_found'],
  inSteps: true,
});
