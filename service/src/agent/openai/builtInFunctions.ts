import { VERDICTS } from '../../conversations/index.ts';
import type { JsonObject } from '../../platform/json.ts';

/**
 * What the agent can do besides talking and calling tools. The hyphens keep these names apart from
 * those of custom tools, which have none.
 */
export const HAND_OVER = 'hand-over';
export const CLOSE_CONVERSATION = 'close-conversation';
export const MARK_QUALIFIED = 'mark-qualified';

export const BUILT_IN_NAMES: readonly string[] = [HAND_OVER, CLOSE_CONVERSATION, MARK_QUALIFIED];

export interface FunctionDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

export const BUILT_IN_FUNCTIONS: readonly FunctionDefinition[] = [
  {
    name: HAND_OVER,
    description:
      'Hands the conversation over to a person of the team: when the customer asks for one, or when you cannot help.',
    parameters: {
      type: 'object',
      properties: {
        reason: {
          type: 'string',
          enum: ['customer_request', 'missing_knowledge'],
          description:
            'customer_request: the customer asked for a person. missing_knowledge: you cannot help further.',
        },
        message: {
          type: 'string',
          description: "What the customer is told, in the customer's language.",
        },
      },
      required: ['reason'],
    },
  },
  {
    name: CLOSE_CONVERSATION,
    description:
      'Closes the conversation, when the customer has what they came for or there is nothing more to do.',
    parameters: {
      type: 'object',
      properties: {
        verdict: { type: 'string', enum: [...VERDICTS], description: 'How it ended.' },
        summary: {
          type: 'string',
          description: 'What was wanted and how it ended, in one or two sentences, for the team.',
        },
        message: {
          type: 'string',
          description: "The last words to the customer, in the customer's language.",
        },
      },
      required: ['verdict', 'summary'],
    },
  },
  {
    name: MARK_QUALIFIED,
    description:
      'Marks the conversation as qualified: the customer is a good fit and seriously interested. Write your reply to the customer too.',
    parameters: { type: 'object', properties: {} },
  },
];
