import { z } from 'zod';
import { normalizeEmail } from '../../platform/contactDetails.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import { operationsOf } from '../../platform/http/operation.ts';
import {
  listOf,
  pageQuerySchema,
  textSchema,
  timestampSchema,
} from '../../platform/http/schemas.ts';
import { phoneSchema } from '../../platform/http/phoneSchema.ts';

/** A message as its customer sees it. It is their own conversation, so nothing is masked. */
const chatMessageSchema = z
  .strictObject({
    id: z.string(),
    conversation_id: z.string(),
    from: z.enum(['customer', 'agent', 'team']),
    name: z
      .string()
      .nullable()
      .describe(
        'The name of the agent or the team member; null for the customer and for an automation',
      ),
    text: z.string(),
    choices: z
      .array(z.string())
      .describe(
        'Answers that the customer can choose from, by sending one of these texts as a message',
      ),
    client_message_id: z.string().nullable(),
    created_at: timestampSchema,
  })
  .meta({ id: 'ChatMessage' });

const operation = operationsOf({ tag: 'Chat', auth: 'chat', extension: true });

export const startChatSession = operation('POST /chat/sessions', {
  addsToStore: 'visitor',
  summary: 'Start a chat session',
  description:
    'Creates a contact for a visitor and returns their chat token. Name, e-mail and phone are not verified, so the contact is never merged with another one.',
  auth: 'none',
  body: z
    .object({
      workspace: z
        .string()
        .max(64)
        .optional()
        .describe("The workspace's slug. Defaults to the oldest workspace."),
      name: textSchema(200).nullish(),
      email: z.email('must be an e-mail address').max(254).transform(normalizeEmail).nullish(),
      phone: phoneSchema.nullish(),
    })
    .meta({ example: { name: 'María', email: 'maria@example.com' } }),
  status: 201,
  answer: z.strictObject({
    token: z.string().describe('Send it as a Bearer token. It is shown only here.'),
    contact_id: z.string(),
  }),
  errors: ['not_found'],
  noIdempotencyKey: true,
});

export const sendChatMessage = operation('POST /chat/messages', {
  addsToStore: 'data',
  summary: 'Send a message as the customer',
  description:
    'If the request gets no answer, repeat it with the same `client_message_id`: the message is stored once, with its first text. Wait for the answer to a request before you send the next message, so that messages stay in order. A message after the conversation was closed opens a new conversation.',
  body: z
    .object({
      text: textSchema(MAX_MESSAGE_CHARACTERS),
      client_message_id: textSchema(128).describe(
        'An id that you choose. Repeating a message with the same id does not store it twice.',
      ),
    })
    .meta({ example: { text: 'Do you have time on Tuesday?', client_message_id: '6f1c2a52' } }),
  status: 202,
  answer: z.strictObject({ conversation_id: z.string(), message_id: z.string() }),
});

export const listChatMessages = operation('GET /chat/messages', {
  summary: "List the visitor's messages, oldest first",
  query: pageQuerySchema,
  answer: listOf(chatMessageSchema),
});

export const streamChatMessages = operation('GET /chat/stream', {
  summary: "Stream the visitor's messages",
  description:
    'Server-sent events. Read the stream with `fetch`, since it takes the Authorization header. Each event is named `message`; its id is the message id and its data a ChatMessage. An event named `typing` has no id and the data `{"is_typing": true, "seconds": 60}`: a turn of the agent is running, and ends within that many seconds. The typing ends with an event whose `is_typing` is `false`, with the next message of the agent or the team, or with the stream. An event named `closed` has no id and the data `{"conversation_id": "…", "closed_at": "…"}`: the newest conversation is closed, and the next message of the visitor opens another one. The stream starts after `Last-Event-ID`, or with the first message. A comment line every 15 seconds keeps it open. A visitor has at most 3 streams: a further one ends the oldest, whose `retry` field says when to come back. If the stream is refused (429 or 503), poll `GET /api/chat/messages` with the id of the last message as `cursor`, and try the stream again after Retry-After.',
  answer: z.string(),
  answerType: 'text/event-stream',
});
