import { CHANNEL_TYPES } from './contact.ts';
import { z } from 'zod';
import {
  CONVERSATION_STATUSES,
  HANDOVER_REASONS,
  MAX_SUMMARY_CHARACTERS,
  VERDICTS,
  FUNNEL_STAGES,
} from './conversation.ts';
import { DECIDED_BY, DELIVERY_STATES, MAX_REPLY_CHARACTERS } from './message.ts';
import { MAX_NOTE_CHARACTERS } from './systemNote.ts';
import { contactSearchSchema } from './contacts/contract.ts';
import { operationsOf } from '../platform/http/operation.ts';
import {
  actorSchema,
  booleanSchema,
  countSchema,
  instantSchema,
  listOf,
  oneOf,
  pageQuerySchema,
  textSchema,
  timestampSchema,
} from '../platform/http/schemas.ts';
import { phoneSchema } from '../platform/http/phoneSchema.ts';

const CONVERSATION_ID = 'conv_01JD6Z0000000000000000000A';

export const channelTypeSchema = oneOf(CHANNEL_TYPES);
const statusSchema = oneOf(CONVERSATION_STATUSES);
const stageSchema = oneOf(FUNNEL_STAGES);
const verdictSchema = oneOf(VERDICTS);

/** The conversation object inside an event payload. */
const conversationFields = {
  id: z.string().meta({ example: CONVERSATION_ID }),
  agent_id: z.string().describe('The id of the agent'),
  channel: channelTypeSchema,
  contact_display: z
    .string()
    .meta({ description: 'A masked label of the contact', example: '+54•••••••••34' }),
  contact_name: z.string().describe('The name of the contact; empty when it is unknown'),
  status: statusSchema,
  funnel_stage: stageSchema,
  message_count: z.int(),
};
export const payloadConversationSchema = z
  .strictObject(conversationFields)
  .meta({ id: 'PayloadConversation' });

const messageFields = {
  id: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  sender: z.strictObject({
    type: z.enum(['customer', 'agent', 'team_member', 'api']),
    name: z.string(),
  }),
  type: z.literal('text'),
  text: z.string(),
  channel_message_id: z.string().nullable(),
  created_at: timestampSchema,
  wait_id: z
    .string()
    .optional()
    .describe(
      'An extension of the core interface: the wait whose question this message asks, or, for a message of the customer, the wait that it answers',
    ),
};
export const messageSchema = z.strictObject(messageFields).meta({ id: 'Message' });

/** A message in the API's answers: the fields that it has in events, and two more. */
export const trackedMessageSchema = z
  .strictObject({
    ...messageFields,
    decided_by: z
      .enum(DECIDED_BY)
      .nullable()
      .describe(
        "What decided a message of the agent: the keyword agent, the language model or a workflow (`webhook`). Null for the service's own sentences and for everybody else's messages.",
      ),
    delivery: z
      .strictObject({
        state: z.enum(DELIVERY_STATES),
        error: z.string().nullable().describe('Why it failed'),
      })
      .nullable()
      .describe(
        'The delivery state of an outbound message on its channel. Null in the web chat and for messages of the customer.',
      ),
  })
  .meta({
    id: 'TrackedMessage',
    description: 'A message. `delivery` and `decided_by` are extensions of the core interface.',
  });

export const outcomeSchema = z
  .strictObject({
    verdict: verdictSchema,
    summary: z.string(),
    closed_by: actorSchema,
    closed_at: timestampSchema,
  })
  .meta({ id: 'Outcome' });

export const handoverSchema = z
  .strictObject({
    reason: z.enum(HANDOVER_REASONS),
    note: z.string().nullable(),
    triggered_by: actorSchema,
    at: timestampSchema,
  })
  .meta({ id: 'Handover', description: 'An extension of the core interface' });

const recordFields = {
  ...conversationFields,
  channel_account: z
    .string()
    .nullable()
    .describe(
      "An extension of the core interface: the account that the customer wrote to, by the channel's own id (WhatsApp: phone_number_id). Null in the web chat.",
    ),
  contact: z.strictObject({
    id: z.string(),
    name: z.string().nullable(),
    phone_masked: z.string().nullable(),
    email_masked: z.string().nullable(),
  }),
  outcome: outcomeSchema.nullable(),
  handover: handoverSchema.nullable(),
  qualified_at: timestampSchema.nullable(),
  previous_conversation_id: z.string().nullable(),
  assignee: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .describe('An extension of the core interface: the member who looks after the conversation'),
  pending_approvals: z.int(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  closed_at: timestampSchema.nullable(),
};
export const conversationSchema = z.strictObject(recordFields).meta({ id: 'Conversation' });

const operation = operationsOf({ tag: 'Conversations', auth: 'key' });

export const lookupContact = operation('POST /contacts/lookup', {
  isRead: true,
  summary: 'Find the conversation of a contact',
  description:
    'Send either `phone` or `email`. If several contacts match, a contact whose channel verified the value comes before one that only entered it. Among equals, an open conversation comes before a closed one, and a newer one before an older one.',
  body: z
    .object({
      phone: phoneSchema.optional().meta({ example: '+54 9 11 5555 0134' }),
      email: z.email('must be an e-mail address').optional().meta({ example: 'maria@example.com' }),
    })
    .refine(({ phone, email }) => (phone === undefined) !== (email === undefined), {
      message: 'Give either phone or email, exactly one of the two',
      path: [],
    })
    .meta({ example: { phone: '+54 9 11 5555 0134' } }),
  answer: conversationSchema,
  errors: ['not_found'],
});

export const listConversations = operation('GET /conversations', {
  summary: 'List conversations, newest first',
  description:
    'With `updated_since`, the most recently changed come first. A page may have fewer items than `limit`, or none, although more follow: go by `next_cursor`.',
  extension: true,
  query: pageQuerySchema.extend({
    status: statusSchema.optional(),
    channel: channelTypeSchema.optional(),
    funnel_stage: stageSchema.optional(),
    contact_id: z.string().optional().describe('Only conversations of this contact'),
    q: contactSearchSchema.optional(),
    created_since: instantSchema.optional().describe('Only those opened at that time or later'),
    created_before: instantSchema.optional().describe('Only those opened before that time'),
    updated_since: instantSchema.optional().describe('Only those changed at that time or later'),
  }),
  answer: listOf(conversationSchema),
});

export const getConversation = operation('GET /conversations/:id', {
  summary: 'Get a conversation with its newest messages',
  query: z.object({
    messages: countSchema(0, 200).describe('How many of the newest messages to return'),
  }),
  answer: z
    .strictObject({
      ...recordFields,
      messages: z
        .array(trackedMessageSchema)
        .describe('The newest messages, in the order in which they were sent'),
    })
    .meta({ id: 'ConversationWithMessages' }),
  errors: ['not_found'],
});

export const sendMessage = operation('POST /conversations/:id/messages', {
  addsToStore: 'data',
  summary: 'Send a message to the customer',
  description:
    'Sending a message pauses the agent, as a take-over does. With `pause_agent` false, the message goes out beside the agent instead: control stays where it is, `conversation.handed_over` is not emitted, and the agent still answers what the customer wrote.',
  body: z
    .object({
      text: textSchema(MAX_REPLY_CHARACTERS).describe(
        `1 to ${MAX_REPLY_CHARACTERS} characters. WhatsApp gets a text of more than 4096 in several messages, split at the ends of sentences.`,
      ),
      pause_agent: booleanSchema
        .default(true)
        .describe('An extension of the core interface: false leaves the agent in control'),
    })
    .meta({ example: { text: 'Tuesday at ten it is.' } }),
  status: 201,
  answer: z
    .strictObject({ message: trackedMessageSchema, conversation: conversationSchema })
    .meta({ id: 'SentMessage' }),
  errors: ['not_found', 'conversation_closed', 'outside_messaging_window', 'channel_removed'],
});

export const listMessages = operation('GET /conversations/:id/messages', {
  summary: 'List the messages of a conversation, oldest first',
  extension: true,
  query: pageQuerySchema.extend({
    since: instantSchema.optional().describe('Only messages of that time or later'),
  }),
  answer: listOf(trackedMessageSchema),
  errors: ['not_found'],
});

export const writeNote = operation('POST /conversations/:id/notes', {
  addsToStore: 'data',
  summary: 'Write a note for the team',
  description:
    'The thread shows it to the team, with the name of the API key. Neither the customer nor the agent sees it, and no event has it. A closed conversation takes notes too.',
  extension: true,
  body: z
    .object({ text: textSchema(MAX_NOTE_CHARACTERS) })
    .meta({ example: { text: 'Wants the invoice in the name of the company.' } }),
  status: 201,
  answer: z
    .strictObject({
      id: z.string(),
      conversation_id: z.string(),
      text: z.string(),
      created_by: actorSchema,
      created_at: timestampSchema,
    })
    .meta({ id: 'Note' }),
  errors: ['not_found'],
});

export const takeOverConversation = operation('POST /conversations/:id/takeover', {
  summary: 'Take over a conversation',
  description: 'A person takes control, and the agent pauses.',
  answer: conversationSchema,
  errors: ['not_found', 'conversation_closed'],
});

export const handBackConversation = operation('POST /conversations/:id/handback', {
  summary: 'Hand a conversation back to the agent',
  answer: conversationSchema,
  errors: ['not_found', 'conversation_closed'],
});

export const closeConversation = operation('POST /conversations/:id/close', {
  summary: 'Close a conversation with a summary and a verdict',
  body: z
    .object({
      summary: textSchema(MAX_SUMMARY_CHARACTERS).describe(
        `1 to ${MAX_SUMMARY_CHARACTERS} characters`,
      ),
      verdict: verdictSchema,
    })
    .meta({ example: { summary: 'Booked the demo for Tuesday.', verdict: 'goal_reached' } }),
  answer: conversationSchema,
  errors: ['not_found', 'conversation_closed'],
});

export const updateConversation = operation('PATCH /conversations/:id', {
  summary: 'Set the funnel stage',
  description:
    'When a conversation first reaches `qualified` or a later stage, the service emits `conversation.qualified`. You can set the stage of a closed conversation too.',
  extension: true,
  body: z.object({ funnel_stage: stageSchema }).meta({ example: { funnel_stage: 'qualified' } }),
  answer: conversationSchema,
  errors: ['not_found'],
});

export const assignConversation = operation('POST /conversations/:id/assign', {
  summary: 'Assign a conversation to a member',
  description:
    'Sets the member who looks after the conversation. This does not change who is in control: the agent goes on answering. `GET /api/members` lists the members. You can assign a closed conversation too.',
  extension: true,
  body: z
    .object({
      member_id: z
        .string('must be the id of a member, or null')
        .nullable()
        .describe('The id of a member; null for nobody'),
    })
    .meta({ example: { member_id: 'mbr_01JD6Z0000000000000000000A' } }),
  answer: conversationSchema,
  errors: ['not_found'],
});
