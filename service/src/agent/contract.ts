import { z } from 'zod';
import {
  LANGUAGES,
  MAX_AGENT_NAME_CHARACTERS,
  MAX_GREETING_CHARACTERS,
  MAX_HANDOVER_PHRASE_CHARACTERS,
  MAX_HANDOVER_PHRASES,
  MAX_INSTRUCTIONS_CHARACTERS,
  PAYMENT_LINK_POLICIES,
} from './agentSettings.ts';
import { operationsOf } from '../platform/http/operation.ts';
import { DECIDED_BY } from '../conversations/index.ts';
import {
  booleanSchema,
  oneOf,
  ownerSchema,
  textSchema,
  timestampSchema,
} from '../platform/http/schemas.ts';

/** The workflow that is published as the agent. */
const webhookSchema = z
  .strictObject({
    endpoint: z.string().describe('Where turns are sent'),
    timeout: z.number().describe('How long a turn may take, in seconds'),
    owner: ownerSchema,
    revision: z.number().describe('How many times it was published'),
    published_at: timestampSchema,
    removed_at: timestampSchema
      .nullable()
      .describe('When it was unpublished; null while it is not'),
    released: z.boolean().describe('Whether a team member lets another workflow take its place'),
  })
  .meta({ id: 'AgentWebhook' });

const agentSchema = z
  .strictObject({
    id: z.string().meta({
      description: 'The same as `agent_id` in payloads',
      example: 'agent_01JD6Z0000000000000000000A',
    }),
    name: z.string(),
    greeting: z.string(),
    instructions: z.string(),
    languages: z.array(z.enum(LANGUAGES)),
    enabled: z.boolean().describe('Whether the agent answers. It is off until you switch it on.'),
    payment_links: z
      .enum(PAYMENT_LINK_POLICIES)
      .describe(
        'Whether the agent may create payment links, if a payment provider is set up. `off`: no. `ask`: a person approves each link. `allow`: a language model creates them by itself; the keyword agent takes the amount from the customer, so a person still approves.',
      ),
    handover_phrases: z
      .array(z.string())
      .describe('More phrases with which customers ask for a person'),
    model: z.string().meta({
      description:
        '`keyword` for the built-in keyword agent, otherwise the name of the language model',
      example: 'keyword',
    }),
    decided_by: z
      .enum(DECIDED_BY)
      .describe(
        'What decides for the agent: the built-in keyword agent, the configured language model, or a workflow (`webhook`)',
      ),
    use_webhook: z
      .boolean()
      .describe(
        'Whether a workflow decides for the agent. Publishing one sets it; unpublishing leaves it, so that nothing else answers by itself.',
      ),
    webhook: webhookSchema
      .nullable()
      .describe('The workflow that was last published as the agent; null when none ever was'),
    updated_at: timestampSchema.nullable(),
  })
  .meta({ id: 'Agent' });

/** A text that may be empty. */
const optionalText = (max: number) => z.union([z.literal(''), textSchema(max)], 'must be a string');

const operation = operationsOf({ tag: 'Agent', auth: 'key', extension: true });

export const getAgent = operation('GET /agent', {
  summary: "Get the agent's settings",
  answer: agentSchema,
});

export const updateAgent = operation('PATCH /agent', {
  summary: "Update the agent's settings",
  description:
    'Fields that you leave out keep their values. While the agent is off, conversations stay in `ai_active`, and only your team and workflows that send messages answer. Once it is on, it answers new messages.',
  body: z
    .strictObject({
      name: textSchema(MAX_AGENT_NAME_CHARACTERS).optional(),
      greeting: optionalText(MAX_GREETING_CHARACTERS)
        .optional()
        .describe("How the agent's first message in each conversation begins"),
      instructions: optionalText(MAX_INSTRUCTIONS_CHARACTERS)
        .optional()
        .describe('For a language model: what the agent does, what it knows and how it writes'),
      languages: z
        .array(oneOf(LANGUAGES), 'must be a list')
        .min(1, 'must name at least one language')
        .transform((languages) => [...new Set(languages)])
        .optional()
        .describe('The languages that the agent answers in, the preferred one first'),
      enabled: booleanSchema.optional(),
      payment_links: oneOf(PAYMENT_LINK_POLICIES)
        .optional()
        .describe(
          'Whether the agent may create payment links: `off`, `ask` (a person approves each) or `allow`',
        ),
      handover_phrases: z
        .array(textSchema(MAX_HANDOVER_PHRASE_CHARACTERS), 'must be a list of strings')
        .max(MAX_HANDOVER_PHRASES, `must have at most ${MAX_HANDOVER_PHRASES} entries`)
        .optional()
        .meta({
          description:
            'Phrases with which customers ask for a person, besides the built-in ones in English, Spanish and Portuguese. The agent hands over a conversation when a message contains one.',
          example: ['hablar con ventas'],
        }),
      use_webhook: booleanSchema
        .optional()
        .describe(
          'Whether a workflow decides for the agent, instead of the keyword agent or the language model',
        ),
    })
    .meta({ example: { name: 'Ana', enabled: true, languages: ['es', 'en'] } }),
  answer: agentSchema,
});
