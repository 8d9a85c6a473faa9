import { z } from 'zod';
import { TOOL_CALL_ERROR_TYPES, TOOL_CALL_STATUSES } from '../../domain/toolCall.ts';
import { operation } from './operation.ts';
import { listOf, pageQuerySchema, textSchema, timestampSchema } from './shared.ts';

export const toolCallSchema = z
  .strictObject({
    tool_call_id: z.string().meta({
      description: 'The same for all attempts of the call',
      example: 'call_01JD6Z0000000000000000000A',
    }),
    tool: z.string().meta({
      description:
        'The name of the tool; `create-payment-link` for a payment link that the agent creates',
    }),
    arguments: z.record(z.string(), z.unknown()),
    conversation_id: z
      .string()
      .meta({ description: 'The conversation; `conv_test` for a test call' }),
    status: z.enum(TOOL_CALL_STATUSES),
    attempts: z.int(),
    http_status: z
      .int()
      .nullable()
      .meta({ description: 'The HTTP status of the last attempt; null when no answer came' }),
    duration_ms: z.int().meta({ description: 'The duration of all attempts together' }),
    result: z.unknown().meta({
      description:
        'What the tool answered; null until it succeeded. A list cuts a result of more than 8 KiB and shows it as text.',
    }),
    error: z.strictObject({ type: z.enum(TOOL_CALL_ERROR_TYPES), message: z.string() }).nullable(),
    decision: z
      .strictObject({
        approved: z.boolean(),
        by: z.strictObject({ type: z.enum(['agent', 'team_member', 'api']), name: z.string() }),
        note: z.string().nullable(),
        at: timestampSchema,
      })
      .nullable(),
    expires_at: timestampSchema
      .nullable()
      .meta({ description: 'When the approval expires if nobody decides' }),
    created_at: timestampSchema,
    finished_at: timestampSchema.nullable(),
  })
  .meta({ id: 'ToolCall' });

const common = { tag: 'Tools', auth: 'key', extension: true } as const;

export const listToolCalls = operation({
  ...common,
  id: 'listToolCalls',
  method: 'get',
  path: '/tool-calls',
  summary: 'List tool calls, newest first',
  query: pageQuerySchema.extend({
    status: z
      .enum(TOOL_CALL_STATUSES, `must be one of ${TOOL_CALL_STATUSES.join(', ')}`)
      .optional(),
    tool: z.string().optional().meta({ description: 'Only calls of the tool with this name' }),
    conversation_id: z.string().optional(),
  }),
  status: 200,
  answer: listOf(toolCallSchema),
  errors: [],
});

export const getToolCall = operation({
  ...common,
  id: 'getToolCall',
  method: 'get',
  path: '/tool-calls/:id',
  summary: 'Get a tool call with its whole result',
  status: 200,
  answer: toolCallSchema,
  errors: ['not_found'],
});

const decisionBody = z.strictObject({
  note: textSchema(1000).optional().meta({ description: 'The reason, for the record' }),
});

export const approveToolCall = operation({
  ...common,
  id: 'approveToolCall',
  method: 'post',
  path: '/tool-calls/:id/approve',
  summary: 'Approve a tool call',
  description:
    'The call runs, and the agent tells the customer how it ended. Only the first decision counts.',
  body: decisionBody.meta({ example: { note: 'Checked with the warehouse.' } }),
  status: 200,
  answer: toolCallSchema,
  errors: ['not_found', 'approval_already_decided'],
});

export const rejectToolCall = operation({
  ...common,
  id: 'rejectToolCall',
  method: 'post',
  path: '/tool-calls/:id/reject',
  summary: 'Reject a tool call',
  description:
    'The call does not run. The agent says so to the customer and offers a person. Only the first decision counts.',
  body: decisionBody.meta({ example: { note: 'Too late to change this order.' } }),
  status: 200,
  answer: toolCallSchema,
  errors: ['not_found', 'approval_already_decided'],
});
