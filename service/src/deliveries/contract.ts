import { z } from 'zod';
import { DELIVERY_STATUSES, MAX_ATTEMPTS_KEPT, TRIGGERS } from './delivery.ts';
import { EVENT_NAMES } from './event.ts';
import { FILTER_WORDS, MAX_FILTER_CONVERSATIONS } from './filter.ts';
import { PENDING_CHOICES } from './operations/deleteSubscription.ts';
import { REVIVAL_MS } from './subscription.ts';
import { operationsOf } from '../platform/http/operation.ts';
import {
  ADDRESS_ERRORS,
  booleanSchema,
  listOf,
  oneOf,
  ownerIdentityFields,
  ownerSchema,
  pageQuerySchema,
  plainTextSchema,
  revisionSchema,
  timestampSchema,
} from '../platform/http/schemas.ts';

export const eventNameSchema = z.enum(EVENT_NAMES);
const REVIVAL_SECONDS = REVIVAL_MS / 1000;
/** More than there are event names. */
const MAX_EVENTS = 50;
/** The route checks the name, because an unknown one has an error code of its own. */
export const eventTextSchema = z
  .string('must be a string')
  .meta({ description: 'A name from GET /api/hooks/events', example: 'message.received' });

const manyOf = <const Words extends readonly string[]>(words: Words) =>
  z.array(oneOf(words), 'must be a list').optional();

const filterSchema = z
  .strictObject(
    {
      channels: manyOf(FILTER_WORDS.channels),
      statuses: manyOf(FILTER_WORDS.statuses),
      funnel_stages: manyOf(FILTER_WORDS.funnelStages),
      senders: manyOf(FILTER_WORDS.senders),
      received_as: manyOf(FILTER_WORDS.receivedAs),
      conversation_ids: z
        .array(plainTextSchema(64), 'must be a list')
        .max(MAX_FILTER_CONVERSATIONS, `must have at most ${MAX_FILTER_CONVERSATIONS} entries`)
        .optional(),
    },
    'must be an object with channels, statuses, funnel_stages, senders, received_as or conversation_ids',
  )
  .meta({
    id: 'Filter',
    description:
      'An event is sent when it has one of the values of each list. A list applies only to events that have its field: `senders` to messages, `received_as` to messages of customers. An `answer` is a message that answers a waiting workflow; it carries the `wait_id`. An empty list filters nothing.',
    example: { channels: ['whatsapp_cloud'], senders: ['customer', 'agent', 'team_member'] },
  });

const eventsSchema = z
  .array(eventTextSchema, 'must be a list')
  .min(1, 'must name an event')
  .max(MAX_EVENTS, `must have at most ${MAX_EVENTS} entries`)
  .meta({ example: ['message.received', 'conversation.closed'] });
export interface EventNames {
  readonly event?: string | undefined;
  readonly events?: readonly string[] | undefined;
}
const isAmongEvents = ({ event, events }: EventNames): boolean =>
  event === undefined || events === undefined || events.includes(event);
const NOT_AMONG_EVENTS = { message: 'must be one of events', path: ['event'] };
const pausedSchema = booleanSchema.describe(
  'While it is paused, nothing new is queued. Pending deliveries wait, and are sent within a minute after the pause.',
);
const catchUpSchema = booleanSchema.describe(
  'After an outage of the receiver (5xx, 404 or no answer), the deliveries of the last 24 hours that failed and never arrived are sent again, once',
);
const targetUrlSchema = plainTextSchema(2048).describe('A public https:// URL');

const subscriptionFields = {
  id: z.string().meta({ example: 'sub_01JD6Z0000000000000000000A' }),
  event: eventNameSchema.describe('The first of `events`'),
  events: z.array(eventNameSchema),
  filter: filterSchema.nullable(),
  target_url: z.string().meta({ example: 'https://n8n.example.com/webhook/…' }),
  source: z.string(),
  owner: ownerSchema.nullable().describe('The workflow that made it; null when none did'),
  paused: pausedSchema,
  catch_up: catchUpSchema,
  revision: z
    .int()
    .describe('Starts at 1, and grows by 1 each time the subscription is revived or taken over'),
  status: z
    .enum(['active', 'failing'])
    .describe('`failing`: at least the last five deliveries failed. Deliveries continue.'),
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
  status_code: z.int().nullable().describe('The HTTP status; null when no answer came'),
  duration_ms: z.int(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable().describe('The first 4 KiB of the answer'),
  trigger: z.enum(TRIGGERS),
});
export const deliverySchema = z
  .strictObject({
    id: z.string().meta({ example: 'dlv_01JD6Z0000000000000000000A' }),
    event_id: z.string(),
    event: eventNameSchema,
    status: z.enum(DELIVERY_STATUSES),
    attempts: z
      .array(attemptSchema)
      .describe(`The newest ${MAX_ATTEMPTS_KEPT} attempts. \`number\` counts all of them.`),
    next_attempt_at: timestampSchema.nullable(),
    created_at: timestampSchema,
  })
  .meta({ id: 'Delivery' });

const operation = operationsOf({ tag: 'Subscriptions', auth: 'key' });

export const createSubscription = operation('POST /hooks', {
  addsToStore: 'data',
  summary: 'Create a subscription',
  description: `Subscribes an address to one event (\`event\`) or several (\`events\`). The answer shows the signing secret, only this once. The service sends nothing before it has answered the call. If you deleted a subscription with the same \`target_url\` and \`source\` and one of these events less than ${REVIVAL_SECONDS} seconds ago, the call revives it: it keeps its id and its deliveries, and pending deliveries are sent, signed with the new secret. Those that the new events or filter leave out are cancelled.`,
  body: z
    .object({
      event: eventTextSchema.optional(),
      events: eventsSchema.optional(),
      target_url: targetUrlSchema,
      filter: filterSchema.nullable().default(null),
      paused: pausedSchema.default(false),
      catch_up: catchUpSchema.default(false),
      owner: ownerSchema
        .nullable()
        .default(null)
        .describe(
          'The n8n workflow that subscribes. Another n8n that subscribes the same address, or the same path on another host, is refused with `published_elsewhere`.',
        ),
      take_over: booleanSchema
        .default(false)
        .describe('Takes the subscription of this address over from another n8n; needs `owner`'),
      source: z
        .string('must be a string')
        .max(64, 'must have at most 64 characters')
        .default('')
        .describe('Who subscribes, as free text'),
    })
    .refine(({ event, events }) => event !== undefined || events !== undefined, {
      message: 'must name an event, or send events',
      path: ['event'],
    })
    .refine(isAmongEvents, NOT_AMONG_EVENTS)
    .refine(({ owner, take_over }) => owner !== null || !take_over, {
      message: 'needs owner',
      path: ['take_over'],
    })
    .meta({
      example: {
        events: ['message.received', 'conversation.closed'],
        target_url: 'https://n8n.example.com/webhook/abc',
        filter: { channels: ['whatsapp_cloud'] },
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
    'published_elsewhere',
    'subscription_limit_reached',
    ...ADDRESS_ERRORS,
  ],
  noIdempotencyKey: true,
});

export const updateSubscription = operation('PATCH /hooks/:id', {
  summary: 'Change a subscription',
  description:
    'What is left out stays, and so does the secret. Pending deliveries go to the new address. Those that the new events or filter leave out are cancelled as they come due. While the subscription is paused, the others wait. What you send by hand (test, redeliver, recover) goes out all the same.',
  extension: true,
  body: z
    .strictObject({
      target_url: targetUrlSchema.optional(),
      event: eventTextSchema.optional(),
      events: eventsSchema.optional(),
      filter: filterSchema.nullable().optional().describe('Null: all events of these names'),
      paused: pausedSchema.optional(),
      catch_up: catchUpSchema.optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, 'The body must name a change')
    .refine(isAmongEvents, NOT_AMONG_EVENTS)
    .meta({ example: { events: ['message.received'], paused: false } }),
  answer: subscriptionSchema,
  errors: [
    'not_found',
    'unknown_event',
    'subscription_exists',
    'published_elsewhere',
    ...ADDRESS_ERRORS,
  ],
  inSteps: true,
});

export const listSubscriptions = operation('GET /hooks', {
  summary: 'List subscriptions, newest first',
  query: pageQuerySchema,
  answer: listOf(subscriptionSchema),
});

export const deleteSubscription = operation('DELETE /hooks/:id', {
  summary: 'Delete a subscription',
  description: `The service sends nothing more. For ${REVIVAL_SECONDS} seconds it keeps the pending deliveries and the new events: creating a subscription with the same \`target_url\` and \`source\` and one of its events in that time revives this one under its id, with a new secret. After that time, the deliveries are cancelled. If you send the fields of an owner, a subscription of another owner is not deleted.`,
  query: z.object({
    pending: oneOf(PENDING_CHOICES).default('keep').meta({
      description:
        '`cancel`: pending deliveries are cancelled at once, and the subscription cannot be revived',
      example: 'keep',
    }),
    ...z.object(ownerIdentityFields).partial().shape,
    revision: revisionSchema.describe(
      'Deletes only this revision. If the subscription was revived since, nothing happens, and `deleted` is false.',
    ),
  }),
  answer: z.strictObject({
    id: z.string(),
    deleted: z
      .boolean()
      .describe(
        'False when the subscription has a later revision than the given one, or another owner',
      ),
  }),
  errors: ['not_found'],
});

export const listDeliveries = operation('GET /hooks/:id/deliveries', {
  summary: 'List deliveries, newest first',
  query: pageQuerySchema.extend({
    status: oneOf(DELIVERY_STATUSES).optional(),
    event_id: plainTextSchema(64)
      .optional()
      .describe('Only the delivery of this event')
      .meta({ example: 'evt_01JD6Z0000000000000000000A' }),
  }),
  answer: listOf(deliverySchema),
  errors: ['not_found'],
});

export const rotateSecret = operation('POST /hooks/:id/rotate-secret', {
  summary: 'Rotate the signing secret',
  description:
    'For 24 hours, each delivery carries a signature with the new secret, then one with the replaced secret. An n8n workflow learns the new secret when you unpublish and publish it again: do so within the 24 hours. At most five secrets sign at a time.',
  extension: true,
  answer: z
    .strictObject({
      ...subscriptionFields,
      secret: secretSchema,
      previous_secret_expires_at: timestampSchema,
      notice: z.string(),
    })
    .meta({ id: 'RotatedSubscription' }),
  errors: ['not_found', 'secret_limit_reached'],
  noIdempotencyKey: true,
});

export const revokePreviousSecrets = operation('POST /hooks/:id/revoke-previous-secrets', {
  summary: 'Revoke replaced secrets',
  description:
    'Ends the overlap after a rotation at once: only the newest secret signs from now on. Give each receiver the new secret first, or it will refuse deliveries. If a replaced secret has leaked, revoke it without waiting.',
  extension: true,
  answer: z
    .strictObject({
      ...subscriptionFields,
      revoked: z.int().describe('How many replaced secrets stopped signing'),
    })
    .meta({ id: 'SubscriptionWithRevokedSecrets' }),
  errors: ['not_found'],
});

export const redeliver = operation('POST /hooks/:id/deliveries/:delivery_id/redeliver', {
  summary: 'Send a delivery again',
  description:
    'Takes the `dlv_` or `evt_` id of a finished delivery and sends the same event id and body. The request carries `X-Service-Redelivery: manual`, and `X-Service-Redelivery-Round` with one value for all attempts that this call causes.',
  extension: true,
  answer: deliverySchema,
  errors: ['not_found', 'delivery_pending'],
});

export const recoverDeliveries = operation('POST /hooks/:id/recover', {
  addsToStore: 'data',
  summary: 'Send failed deliveries again',
  description:
    'Sends again all deliveries that failed since a time and never arrived. The events may be older. Pending and delivered ones, and test events, are left alone, so repeating the call sends nothing twice. Event ids and bodies stay the same, so that receivers can deduplicate.',
  extension: true,
  body: z
    .object({
      since: z.iso.datetime({
        offset: true,
        error: 'must be an ISO 8601 time with offset, such as 2026-11-21T10:00:00Z',
      }),
    })
    .meta({ example: { since: '2026-11-21T10:00:00.000+00:00' } }),
  answer: z.strictObject({
    redelivered: z.int().describe('How many deliveries this call queued'),
  }),
  errors: ['not_found'],
  inSteps: true,
});
