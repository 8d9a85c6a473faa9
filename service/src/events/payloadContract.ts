import { z } from 'zod';
import type { EventName } from '../deliveries/index.ts';
import { FUNNEL_STAGES } from '../conversations/index.ts';
import {
  handoverSchema,
  messageSchema,
  outcomeSchema,
  payloadConversationSchema,
} from '../conversations/contract.ts';
import { approvalSchema } from '../tools/calls/contract.ts';
import { PAYMENT_PROVIDERS } from '../payments/index.ts';
import { timestampSchema } from '../platform/http/schemas.ts';

/** The fields that every event has. */
const base = {
  id: z
    .string()
    .regex(/^evt_[0-9A-Z]+$/)
    .describe('The same as `X-Service-Delivery`. Deduplicate on it.'),
  occurred_at: timestampSchema,
  workspace: z.string().describe("The workspace's slug"),
  conversation: payloadConversationSchema,
};

const paymentSchema = z
  .strictObject({
    id: z.string(),
    status: z.literal('paid'),
    amount: z.int().describe('The amount in minor units of the currency'),
    currency: z.string().describe('ISO 4217 in lower case'),
    description: z.string(),
    provider: z.enum(PAYMENT_PROVIDERS),
    provider_reference: z.string().nullable(),
    paid_at: timestampSchema,
  })
  .meta({ id: 'Payment' });

const stage = z.enum(FUNNEL_STAGES);

/** What is POSTed to subscribers, one schema for each event. */
export const payloadSchemas = {
  'conversation.opened': z.strictObject({ ...base, event: z.literal('conversation.opened') }),
  'conversation.qualified': z.strictObject({
    ...base,
    event: z.literal('conversation.qualified'),
    funnel: z.strictObject({ stage, previous_stage: stage }),
  }),
  'conversation.handed_over': z.strictObject({
    ...base,
    event: z.literal('conversation.handed_over'),
    handover: handoverSchema,
  }),
  'conversation.closed': z.strictObject({
    ...base,
    event: z.literal('conversation.closed'),
    outcome: outcomeSchema,
  }),
  'message.received': z.strictObject({
    ...base,
    event: z.literal('message.received'),
    message: messageSchema,
  }),
  'message.sent': z.strictObject({
    ...base,
    event: z.literal('message.sent'),
    message: messageSchema,
  }),
  'payment.paid': z.strictObject({
    ...base,
    event: z.literal('payment.paid'),
    payment: paymentSchema,
  }),
  'conversation.awaiting_human': z.strictObject({
    ...base,
    event: z.literal('conversation.awaiting_human'),
    handover: handoverSchema,
  }),
  'approval.requested': z.strictObject({
    ...base,
    event: z.literal('approval.requested'),
    approval: approvalSchema,
  }),
  'approval.decided': z.strictObject({
    ...base,
    event: z.literal('approval.decided'),
    approval: approvalSchema,
  }),
} satisfies Record<EventName, z.ZodType>;

type PayloadSchema = (typeof payloadSchemas)[EventName];

/** Any event's payload. */
export const payloadSchema = z
  .discriminatedUnion('event', Object.values(payloadSchemas) as [PayloadSchema, ...PayloadSchema[]])
  .meta({ id: 'EventPayload' });

export type Payload = z.output<typeof payloadSchema>;
