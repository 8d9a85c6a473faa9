import { z } from 'zod';
import { conversationSchema, trackedMessageSchema } from '../../conversations/contract.ts';
import {
  AGENT_HANDOVER_REASONS,
  MAX_REPLY_CHARACTERS,
  MAX_SUMMARY_CHARACTERS,
  VERDICTS,
} from '../../conversations/index.ts';
import { operationsOf } from '../../platform/http/operation.ts';
import {
  booleanSchema,
  listOf,
  oneOf,
  pageQuerySchema,
  textSchema,
  timestampSchema,
} from '../../platform/http/schemas.ts';
import {
  MAX_ANSWER_TEXTS,
  MAX_HANDOVER_NOTE_CHARACTERS,
  TURN_OUTCOMES,
  TURN_STATUSES,
} from './webhookTurn.ts';

const turnSchema = z
  .strictObject({
    turn_id: z.string().meta({
      description: 'The same for all attempts of the turn',
      example: 'turn_01JD6Z0000000000000000000A',
    }),
    conversation_id: z.string().describe('The conversation; `conv_test` for a test by the team'),
    status: z
      .enum(TURN_STATUSES)
      .describe(
        '`queued`: waits for its next attempt. `running`: the workflow has it. `suspended`: the workflow waits for a customer or a colleague. The others have ended.',
      ),
    outcome: z
      .enum(TURN_OUTCOMES)
      .nullable()
      .describe('How the workflow answered; null until it has'),
    problem: z
      .string()
      .nullable()
      .describe('Why the turn failed, was superseded or is tried again'),
    attempts: z.int().describe('How often the turn was sent'),
    messages_sent: z.int(),
    is_test: z.boolean().describe('A test by the team: its answer is shown and not sent'),
    is_resumed: z.boolean().describe('The workflow waited for a customer or a colleague'),
    created_at: timestampSchema,
    started_at: timestampSchema.nullable(),
    deadline: timestampSchema.nullable().describe('When the turn fails if no answer has come'),
    ended_at: timestampSchema.nullable(),
  })
  .meta({ id: 'AgentTurn' });

const answeredSchema = z
  .strictObject({
    turn: turnSchema,
    messages: z
      .array(trackedMessageSchema)
      .describe('The messages that this call sent; none for a test'),
    conversation: conversationSchema.nullable().describe('Null for a test'),
  })
  .meta({ id: 'AnsweredAgentTurn' });

const operation = operationsOf({ tag: 'Agent', auth: 'key', extension: true });

export const listAgentTurns = operation('GET /agent-turns', {
  summary: 'List the turns that went to a workflow, newest first',
  query: pageQuerySchema.extend({
    status: oneOf(TURN_STATUSES).optional(),
    conversation_id: z.string().optional().describe('Only turns of this conversation'),
  }),
  answer: listOf(turnSchema),
});

export const getAgentTurn = operation('GET /agent-turns/:id', {
  summary: 'Get a turn of the agent',
  answer: turnSchema,
  errors: ['not_found'],
});

const text = textSchema(MAX_REPLY_CHARACTERS);
const firstText = text.optional().describe('A message to the customer, sent first');
const ERRORS = ['not_found', 'turn_superseded'] as const;
const GUARD =
  'Refused with `turn_superseded` when the turn has ended, a person took over or the customer wrote again. Nothing is sent then.';

export const replyInTurn = operation('POST /agent-turns/:id/replies', {
  addsToStore: 'data',
  summary: 'Reply to the customer in a turn of the agent',
  description: `Sends the messages as the agent and ends the turn, unless more follow. ${GUARD}`,
  body: z
    .strictObject({
      text: text.optional().describe('One message'),
      texts: z
        .array(text, 'must be a list of strings')
        .min(1, 'must have at least one text')
        .max(MAX_ANSWER_TEXTS, `must have at most ${MAX_ANSWER_TEXTS} texts`)
        .optional()
        .describe('Several messages, in this order'),
      more_follows: booleanSchema
        .default(false)
        .describe('True leaves the turn open for further messages until its deadline'),
    })
    .refine((body) => (body.text === undefined) !== (body.texts === undefined), {
      message: 'Give either text or texts, exactly one of the two',
      path: [],
    })
    .meta({ example: { text: 'Your order leaves tomorrow.' } }),
  status: 201,
  answer: answeredSchema,
  errors: ERRORS,
});

export const handOverInTurn = operation('POST /agent-turns/:id/hand-over', {
  addsToStore: 'data',
  summary: 'Hand the conversation over to a person in a turn of the agent',
  description: `Ends the turn. The conversation waits for a person. Without \`text\`, the service tells the customer so in a sentence of its own, unless this turn has sent a message already. ${GUARD}`,
  body: z
    .strictObject({
      reason: oneOf(AGENT_HANDOVER_REASONS).default('missing_knowledge'),
      note: textSchema(MAX_HANDOVER_NOTE_CHARACTERS).optional().describe('For the team'),
      text: firstText,
    })
    .meta({ example: { reason: 'customer_request', note: 'Wants to speak about a contract.' } }),
  answer: answeredSchema,
  errors: ERRORS,
});

export const closeInTurn = operation('POST /agent-turns/:id/close', {
  addsToStore: 'data',
  summary: 'Close the conversation in a turn of the agent',
  description: `Ends the turn. ${GUARD}`,
  body: z
    .strictObject({
      verdict: oneOf(VERDICTS),
      summary: textSchema(MAX_SUMMARY_CHARACTERS),
      text: firstText,
    })
    .meta({ example: { verdict: 'goal_reached', summary: 'Booked the demo for Tuesday.' } }),
  answer: answeredSchema,
  errors: ERRORS,
});

export const endAgentTurn = operation('POST /agent-turns/:id/end', {
  summary: 'End a turn of the agent without saying anything',
  description: `What the customer wrote counts as dealt with. ${GUARD}`,
  body: z.strictObject({}).meta({ example: {} }),
  answer: answeredSchema,
  errors: ERRORS,
});
