import { z } from 'zod';
import { APPROVAL_STATUSES } from './approval.ts';
import { TOOL_CALL_ERROR_TYPES, TOOL_CALL_STATUSES } from './toolCall.ts';
import { operationsOf } from '../../platform/http/operation.ts';
import {
  decisionSchema,
  listOf,
  oneOf,
  pageQuerySchema,
  textSchema,
  timestampSchema,
} from '../../platform/http/schemas.ts';

/** The approval of a tool call, as events tell it. */
export const approvalSchema = z
  .strictObject({
    tool_call_id: z
      .string()
      .describe('Decide with `POST /api/tool-calls/{id}/approve` or `…/reject`'),
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    status: z
      .enum(APPROVAL_STATUSES)
      .describe(
        'It waits, was decided, expired, or was cancelled: the conversation was closed, or the tool was edited, paused, switched off or removed',
      ),
    decision: decisionSchema.nullable(),
    requested_at: timestampSchema,
    expires_at: timestampSchema.nullable().describe('Null when it no longer waits'),
  })
  .meta({ id: 'Approval', description: 'An extension of the core interface' });

export const toolCallSchema = z
  .strictObject({
    tool_call_id: z.string().meta({
      description: 'The same for all attempts of the call',
      example: 'call_01JD6Z0000000000000000000A',
    }),
    tool: z
      .string()
      .describe(
        'The name of the tool; `create-payment-link` for a payment link that the agent creates',
      ),
    arguments: z.record(z.string(), z.unknown()),
    conversation_id: z.string().describe('The conversation; `conv_test` for a test call'),
    status: z.enum(TOOL_CALL_STATUSES),
    attempts: z.int(),
    http_status: z
      .int()
      .nullable()
      .describe('The HTTP status of the last attempt; null when no answer came'),
    duration_ms: z.int().describe('The duration of all attempts together'),
    result: z
      .unknown()
      .describe(
        'What the tool answered; null until it succeeded. A list cuts a result of more than 8 KiB and shows it as text.',
      ),
    error: z.strictObject({ type: z.enum(TOOL_CALL_ERROR_TYPES), message: z.string() }).nullable(),
    decision: decisionSchema.nullable(),
    expires_at: timestampSchema.nullable().describe('When the approval expires if nobody decides'),
    created_at: timestampSchema,
    finished_at: timestampSchema.nullable(),
  })
  .meta({ id: 'ToolCall' });

const operation = operationsOf({ tag: 'Tools', auth: 'key', extension: true });

export const listToolCalls = operation('GET /tool-calls', {
  summary: 'List tool calls, newest first',
  query: pageQuerySchema.extend({
    status: oneOf(TOOL_CALL_STATUSES).optional(),
    tool: z.string().optional().describe('Only calls of the tool with this name'),
    conversation_id: z.string().optional(),
  }),
  answer: listOf(toolCallSchema),
});

export const getToolCall = operation('GET /tool-calls/:id', {
  summary: 'Get a tool call with its whole result',
  answer: toolCallSchema,
  errors: ['not_found'],
});

const decisionBody = z.strictObject({
  note: textSchema(1000).optional().describe('The reason, for the record'),
});

export const approveToolCall = operation('POST /tool-calls/:id/approve', {
  summary: 'Approve a tool call',
  description:
    'The call runs, and the agent tells the customer how it ended. Only the first decision counts.',
  body: decisionBody.meta({ example: { note: 'Checked with the warehouse.' } }),
  answer: toolCallSchema,
  errors: ['not_found', 'approval_already_decided'],
});

export const rejectToolCall = operation('POST /tool-calls/:id/reject', {
  summary: 'Reject a tool call',
  description:
    'The call does not run. The agent says so to the customer and offers a person. Only the first decision counts.',
  body: decisionBody.meta({ example: { note: 'Too late to change this order.' } }),
  answer: toolCallSchema,
  errors: ['not_found', 'approval_already_decided'],
});
