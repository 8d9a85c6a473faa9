import { z } from 'zod';
import { ACCEPT_TYPES, MAX_CHOICE_CHARACTERS, MAX_CHOICES } from './accept.ts';
import { spelled } from './readChoice.ts';
import {
  DEFAULT_ATTEMPTS,
  DEFAULT_WAIT_SECONDS,
  MAX_ATTEMPTS,
  MAX_DETAILS_CHARACTERS,
  MAX_DETAILS_DEPTH,
  MAX_LABEL_CHARACTERS,
  MAX_QUESTION_CHARACTERS,
  MAX_WAIT_NOTE_CHARACTERS,
  MAX_WAIT_SECONDS,
  MIN_REMIND_SECONDS,
  RESUME_STATES,
  WAIT_KINDS,
  WAIT_STATUSES,
} from './wait.ts';
import { brokenLimit } from '../platform/json.ts';
import { operationsOf } from '../platform/http/operation.ts';
import {
  ADDRESS_ERRORS,
  actorSchema,
  booleanSchema,
  decisionSchema,
  instantSchema,
  jsonObjectSchema,
  listOf,
  oneOf,
  pageQuerySchema,
  plainTextSchema,
  textSchema,
  timestampSchema,
} from '../platform/http/schemas.ts';

const kindSchema = oneOf(WAIT_KINDS);
const statusSchema = oneOf(WAIT_STATUSES);

const choiceSchema = textSchema(MAX_CHOICE_CHARACTERS).refine(
  (choice) => spelled(choice) !== '',
  'must have a character that can be seen',
);

const choicesSchema = z
  .array(choiceSchema, 'must be a list')
  .max(MAX_CHOICES, `must have at most ${MAX_CHOICES} entries`)
  .refine(
    (choices) => new Set(choices.map(spelled)).size === choices.length,
    'must not name a choice twice: case, accents and spaces do not tell choices apart',
  );

const acceptSchema = z
  .strictObject({ type: oneOf(ACCEPT_TYPES), choices: choicesSchema.default([]) })
  .refine(({ type, choices }) => (type === 'choice') === choices.length > 0, {
    message: 'must name at least one choice with the type choice, and none with another type',
    path: ['choices'],
  })
  .meta({
    id: 'Accept',
    description:
      'What counts as an answer. A choice is taken by its button, its text (case and accents do not matter) or its number.',
    example: { type: 'choice', choices: ['Tuesday', 'Thursday'] },
  });

const answerSchema = z.strictObject({
  text: z.string().describe('All that the customer wrote, in lines'),
  value: z
    .union([z.string(), z.number()])
    .nullable()
    .describe(
      'What was accepted: a number as a number, a date as `2026-12-31`, an e-mail in lower case, a choice as it was offered; otherwise the text. Null when the answer was not accepted. In the clear for the key that made the wait, masked for every other.',
    ),
  messages: z.array(
    z.strictObject({ id: z.string(), text: z.string(), created_at: timestampSchema }),
  ),
  seconds_waited: z.int(),
});

const resumeSchema = z.strictObject({
  host: z
    .string()
    .describe('Host and port of `resume_url`. The whole address is a secret and never shown.'),
  state: z
    .enum(RESUME_STATES)
    .describe(
      '`none`: nothing to resume yet, or a newer wait has the address. `done`: the execution has collected the answer.',
    ),
  problem: z.string().nullable().describe('Why it was given up'),
  next_attempt_at: timestampSchema.nullable(),
  attempts: z.array(
    z.strictObject({
      at: timestampSchema,
      status: z.int().nullable().describe('The HTTP status; null when no answer came'),
      problem: z.string().nullable().describe('Why the execution did not go on'),
    }),
  ),
});

const waitSchema = z
  .strictObject({
    id: z.string().meta({ example: 'wait_01JD6Z0000000000000000000A' }),
    kind: kindSchema,
    status: statusSchema.describe(
      '`answered`: the customer replied. `not_accepted`: they replied, and no answer was accepted. `taken_over`: a person took the conversation over, or the agent handed it over. `closed`: it was closed. `undeliverable`: the question could not be sent.',
    ),
    conversation_id: z.string().nullable(),
    turn_id: z.string().nullable(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).nullable(),
    accept: z.strictObject({ type: z.enum(ACCEPT_TYPES), choices: z.array(z.string()) }),
    approve_label: z.string().nullable(),
    reject_label: z.string().nullable(),
    answer: answerSchema.nullable(),
    decision: decisionSchema.nullable(),
    cancelled_by: actorSchema
      .nullable()
      .describe('Null also when a newer wait with the same `resume_url` cancelled it'),
    created_by: actorSchema,
    expires_at: timestampSchema,
    created_at: timestampSchema,
    ended_at: timestampSchema.nullable(),
    collected_at: timestampSchema.nullable(),
    resume: resumeSchema,
  })
  .meta({ id: 'Wait' });

const detailsSchema = jsonObjectSchema.superRefine((details, context) => {
  const limits = { maxBytes: Infinity, maxDepth: MAX_DETAILS_DEPTH };
  if (brokenLimit(details, limits) !== null)
    context.addIssue(`must be nested at most ${MAX_DETAILS_DEPTH} levels deep`);
  else if (JSON.stringify(details).length > MAX_DETAILS_CHARACTERS)
    context.addIssue(`must have at most ${MAX_DETAILS_CHARACTERS} characters as JSON`);
});

const labelSchema = textSchema(MAX_LABEL_CHARACTERS).nullable().default(null);
/** A text that asks the customer again; null: the question itself. */
const askAgainSchema = textSchema(MAX_QUESTION_CHARACTERS).nullable().default(null);

const FIELDS_OF_KIND = {
  reply: ['accept', 'retry_message', 'remind_after', 'remind_message'],
  decision: ['details', 'approve_label', 'reject_label'],
} as const;

const operation = operationsOf({ tag: 'Waits', auth: 'key', extension: true });

export const openWait = operation('POST /waits', {
  addsToStore: 'data',
  summary: 'Open a wait',
  description:
    'Asks a customer (`reply`) or the team (`decision`), and calls `resume_url` when the wait has ended. A question to a customer is sent at once, and what they write next is the answer: neither the agent nor a turn sees it. A question to the team is a card. `resume_url` gets `{"wait_id"}` again and again, for up to 24 hours, until `POST /api/waits/{id}/collect` is called. An open wait with the same `resume_url` is cancelled.',
  body: z
    .strictObject({
      kind: kindSchema,
      conversation_id: plainTextSchema(64)
        .nullable()
        .default(null)
        .describe(
          'Required for a reply without a turn. With a turn, the default is the conversation of the turn. A decision with neither is a card of the workspace.',
        ),
      turn_id: plainTextSchema(64)
        .nullable()
        .default(null)
        .describe('The turn of the agent that waits. The question is sent in its name.'),
      message: textSchema(MAX_QUESTION_CHARACTERS),
      details: detailsSchema
        .nullable()
        .default(null)
        .describe('What the team needs for its decision; shown as a list'),
      resume_url: plainTextSchema(2048).describe(
        'A public https:// URL, as a subscription’s. It is stored encrypted and never shown.',
      ),
      expires_at: instantSchema
        .optional()
        .describe(
          `Up to ${MAX_WAIT_SECONDS / 86_400} days from now; by default in ${DEFAULT_WAIT_SECONDS / 86_400} days`,
        ),
      accept: acceptSchema.optional().describe('For a reply; by default any text'),
      retry_message: askAgainSchema.describe(
        'Asks again when an answer is not accepted; by default the message',
      ),
      max_attempts: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(MAX_ATTEMPTS, `must be at most ${MAX_ATTEMPTS}`)
        .default(DEFAULT_ATTEMPTS)
        .describe(
          'How many answers are read. If none is accepted, the wait ends as `not_accepted`.',
        ),
      remind_after: z
        .int('must be a whole number of seconds')
        .min(MIN_REMIND_SECONDS, `must be at least ${MIN_REMIND_SECONDS}`)
        .max(MAX_WAIT_SECONDS, `must be at most ${MAX_WAIT_SECONDS}`)
        .nullable()
        .default(null)
        .describe('Seconds after which the customer is reminded, once'),
      remind_message: askAgainSchema.describe('By default the message'),
      approve_label: labelSchema,
      reject_label: labelSchema,
    })
    .superRefine((body, context) => {
      const [other, why] =
        body.kind === 'decision'
          ? (['reply', 'nothing of a decision goes to the customer'] as const)
          : (['decision', 'a question to a customer has no card'] as const);
      for (const field of FIELDS_OF_KIND[other])
        if (body[field] !== null && body[field] !== undefined)
          context.addIssue({
            code: 'custom',
            path: [field],
            message: `is for a ${other}: ${why}`,
          });
    })
    .meta({
      example: {
        kind: 'reply',
        conversation_id: 'conv_01JD6Z0000000000000000000A',
        message: 'Which day suits you?',
        accept: { type: 'choice', choices: ['Tuesday', 'Thursday'] },
        resume_url: 'https://n8n.example.com/webhook-waiting/231?signature=…',
        expires_at: '2026-11-22T10:00:00Z',
      },
    }),
  status: 201,
  answer: waitSchema,
  errors: [
    'not_found',
    'wait_exists',
    'wait_limit_reached',
    'conversation_closed',
    'outside_messaging_window',
    'channel_removed',
    'turn_superseded',
    'try_without_customer',
    ...ADDRESS_ERRORS,
  ],
});

export const listWaits = operation('GET /waits', {
  summary: 'List waits, newest first',
  query: pageQuerySchema.extend({
    status: statusSchema.optional(),
    kind: kindSchema.optional(),
    conversation_id: z.string().optional(),
  }),
  answer: listOf(waitSchema),
});

export const getWait = operation('GET /waits/:id', {
  summary: 'Get a wait',
  answer: waitSchema,
  errors: ['not_found'],
});

export const collectWait = operation('POST /waits/:id/collect', {
  summary: 'Collect a wait that has ended',
  description:
    'For the execution that waits, which goes on with this answer. Unless the call of `resume_url` in which it collected fails, it is not called again. Collecting again gives the same answer.',
  answer: waitSchema,
  errors: ['not_found', 'wait_not_ended', 'wait_superseded'],
});

export const cancelWait = operation('POST /waits/:id/cancel', {
  summary: 'Cancel a wait',
  description:
    'The question is withdrawn, and the execution goes on with the status `cancelled`. What the customer has written since waits for an answer again. A wait that has ended stays as it is.',
  answer: waitSchema,
  errors: ['not_found'],
});

export const decideWait = operation('POST /waits/:id/decide', {
  summary: 'Decide what the team is asked',
  description:
    'For your own tools. The decision is recorded under the name of the API key. The first decision counts; a later one is told who decided, and when.',
  body: z
    .strictObject({
      approved: booleanSchema,
      note: textSchema(MAX_WAIT_NOTE_CHARACTERS)
        .nullable()
        .default(null)
        .describe('The workflow gets it too'),
    })
    .meta({ example: { approved: true, note: 'Up to 50 EUR.' } }),
  answer: waitSchema,
  errors: ['not_found', 'wait_ended'],
});
