import { z } from 'zod';
import { normalizeEmail } from '../../domain/contact.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../domain/message.ts';
import { operation } from './operation.ts';
import { listOf, pageQuerySchema, phoneSchema, textSchema, timestampSchema } from './shared.ts';

/** A message as its customer sees it: nothing is masked, it is their own conversation. */
export const chatMessageSchema = z
  .strictObject({
    id: z.string(),
    conversation_id: z.string(),
    from: z.enum(['customer', 'agent', 'team']),
    name: z.string().nullable().meta({
      description:
        'The name of the agent or the team member; null for an automation and the customer',
    }),
    text: z.string(),
    client_message_id: z.string().nullable(),
    created_at: timestampSchema,
  })
  .meta({ id: 'ChatMessage' });

export const startChatSession = operation({
  id: 'startChatSession',
  adds: 'visitor',
  method: 'post',
  path: '/chat/sessions',
  tag: 'Chat',
  summary: 'A visitor arrives: a new contact and a token',
  description: 'Name, e-mail and phone are claims: they are never merged with another contact.',
  auth: 'none',
  extension: true,
  body: z
    .object({
      workspace: z
        .string()
        .max(64)
        .optional()
        .meta({ description: "The workspace's slug; the oldest one when left out" }),
      name: textSchema(200).nullish(),
      email: z.email('must be an e-mail address').max(254).transform(normalizeEmail).nullish(),
      phone: phoneSchema.nullish(),
    })
    .meta({ example: { name: 'María', email: 'maria@example.com' } }),
  status: 201,
  answer: z.strictObject({
    token: z.string().meta({ description: 'Send it as Bearer token; shown this once' }),
    contact_id: z.string(),
  }),
  errors: ['not_found', 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});

export const sendChatMessage = operation({
  id: 'sendChatMessage',
  adds: 'data',
  method: 'post',
  path: '/chat/messages',
  tag: 'Chat',
  summary: 'The customer writes',
  description:
    'Send it again with the same client_message_id until an answer comes: that is one message, and its first text counts. Send the next one after that, so that they arrive in order. After a conversation was closed a new one opens, with previous_conversation_id.',
  auth: 'chat',
  extension: true,
  body: z
    .object({
      text: textSchema(MAX_MESSAGE_CHARACTERS),
      client_message_id: textSchema(128).meta({
        description: "The client's own id of the message, so that a repeat is not a second one",
      }),
    })
    .meta({ example: { text: 'Do you have time on Tuesday?', client_message_id: '6f1c2a52' } }),
  status: 202,
  answer: z.strictObject({ conversation_id: z.string(), message_id: z.string() }),
  errors: [],
});

export const listChatMessages = operation({
  id: 'listChatMessages',
  method: 'get',
  path: '/chat/messages',
  tag: 'Chat',
  summary: "The visitor's messages, oldest first",
  auth: 'chat',
  extension: true,
  query: pageQuerySchema,
  status: 200,
  answer: listOf(chatMessageSchema),
  errors: [],
});

export const streamChatMessages = operation({
  id: 'streamChatMessages',
  method: 'get',
  path: '/chat/stream',
  tag: 'Chat',
  summary: "The visitor's messages as they come, as server-sent events",
  description:
    'Read it by fetch with the Authorization header. Each event is named message, its id is the message id, its data a ChatMessage. Begins after Last-Event-ID, else with the first message; a comment line beats every 15 seconds. Of more than 3 streams of a visitor the oldest ends, after a retry field that says when to come back. When there is no stream (429, 503), ask for the messages every few seconds: GET /api/chat/messages with the id of the last message as cursor; try the stream again after Retry-After.',
  auth: 'chat',
  extension: true,
  status: 200,
  answer: z.string(),
  answerType: 'text/event-stream',
  errors: [],
});
