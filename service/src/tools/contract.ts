import { z } from 'zod';
import {
  MAX_EXAMPLE_PHRASE_CHARACTERS,
  MAX_EXAMPLE_PHRASES,
  MAX_TOOL_SECRETS,
  SECRET_NAME_PATTERN,
  TOOL_KINDS,
  TOOL_NAME_PATTERN,
  TOOL_NAME_RULE,
  TOOL_STATUSES,
  DEFAULT_TOOL_TIMEOUT_SECONDS,
  MAX_TOOL_TIMEOUT_SECONDS,
} from './tool.ts';
import { operationsOf } from '../platform/http/operation.ts';
import {
  ADDRESS_ERRORS,
  booleanSchema,
  deletedSchema,
  jsonObjectSchema,
  listOf,
  oneOf,
  ownerIdentityFields,
  ownerSchema,
  pageQuerySchema,
  plainTextSchema,
  revisionSchema,
  secretHashSchema,
  textSchema,
  timestampSchema,
} from '../platform/http/schemas.ts';
import { toolCallSchema } from './calls/contract.ts';

const TOOL_ID = 'tool_01JD6Z0000000000000000000A';

const nameSchema = z
  .string('must be a string')
  .regex(TOOL_NAME_PATTERN, TOOL_NAME_RULE)
  .meta({ example: 'find_order' });
const descriptionSchema = textSchema(1024).meta({
  description: 'What the tool does. The agent uses it to decide when to call the tool.',
  example: 'Finds an order by its number and says where it is.',
});
const parametersSchema = jsonObjectSchema.meta({
  description: 'The JSON Schema (2020-12) of the arguments, with an object at its root',
  example: {
    type: 'object',
    properties: { order_number: { type: 'string', description: 'Order number' } },
    required: ['order_number'],
  },
});
const endpointSchema = plainTextSchema(2048).meta({
  description: 'Webhook kind: a public https:// URL',
  example: 'https://n8n.example.com/webhook/6f1c2a52/tool',
});
const templateSchema = jsonObjectSchema.meta({
  description:
    'HTTP kind: method, url, query, headers, body and response_fields. Placeholders are {{args.x}}, {{conversation.id}}, {{call.id}} and, in headers only, {{secrets.NAME}}.',
  example: {
    method: 'GET',
    url: 'https://api.example.com/orders/{{args.order_number}}',
    headers: { authorization: 'Bearer {{secrets.API_TOKEN}}' },
  },
});
const secretsSchema = z
  .record(
    z.string().regex(SECRET_NAME_PATTERN, 'has a name that is not made of letters, digits and _'),
    z
      .string('must be a string')
      .trim()
      .min(1, 'must not be empty')
      .max(4096, 'must have at most 4096 characters'),
    'must be an object of strings',
  )
  .refine(
    (secrets) => Object.keys(secrets).length <= MAX_TOOL_SECRETS,
    `must have at most ${MAX_TOOL_SECRETS} entries`,
  )
  .meta({
    description: 'HTTP kind: the values of {{secrets.NAME}}. They are never returned.',
    example: { API_TOKEN: 's3cret' },
  });
const timeoutSchema = z
  .number('must be a number of seconds')
  .min(1, `must be from 1 to ${MAX_TOOL_TIMEOUT_SECONDS}`)
  .max(MAX_TOOL_TIMEOUT_SECONDS, `must be from 1 to ${MAX_TOOL_TIMEOUT_SECONDS}`)
  .describe('The time limit of one attempt, in seconds');
const askSchema = booleanSchema.describe('Whether a person approves each call before it runs');
const readOnlySchema = booleanSchema.describe(
  'Whether the tool only reads and changes nothing. The keyword agent calls such a tool without asking the customer first. Like `readOnlyHint` in MCP.',
);
const examplePhrasesSchema = z
  .array(textSchema(MAX_EXAMPLE_PHRASE_CHARACTERS), 'must be a list of strings')
  .max(MAX_EXAMPLE_PHRASES, `must have at most ${MAX_EXAMPLE_PHRASES} entries`)
  .meta({
    description:
      'What customers write when they want this tool. The agent compares their messages with it.',
    example: ['where is my order', 'has my package left'],
  });
const argumentsSchema = jsonObjectSchema.meta({
  description: "The arguments of the call, which match the tool's parameters",
  example: { order_number: 'A-1042' },
});

const toolFields = {
  id: z.string().meta({ example: TOOL_ID }),
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  kind: z.enum(TOOL_KINDS),
  endpoint: z
    .string()
    .nullable()
    .describe('Webhook kind: the address that is called. Null for the HTTP kind.'),
  request_template: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('HTTP kind: the request that is made. Null for the Webhook kind.'),
  secret_names: z
    .array(z.string())
    .describe('HTTP kind: the names of its secrets. Their values are never returned.'),
  timeout: z.number(),
  ask_before_running: z.boolean(),
  read_only: z.boolean(),
  example_phrases: z.array(z.string()),
  status: z.enum(TOOL_STATUSES),
  tested_at: timestampSchema
    .nullable()
    .describe(
      'When a call of the current definition succeeded. A change to how the tool is called sets it to null.',
    ),
  going_live: z
    .boolean()
    .describe('Whether a test call is running that takes the tool live if it succeeds'),
  owner: ownerSchema
    .nullable()
    .describe('The workflow that published the tool; null when none did'),
  revision: z.number().describe('How often the tool was published; 0 when it never was'),
  last_test: z
    .strictObject({
      tool_call_id: z.string(),
      succeeded: z.boolean(),
      error: z.string().nullable(),
      at: timestampSchema,
    })
    .nullable()
    .describe('How the newest test call of the current definition ended'),
  created_at: timestampSchema,
  updated_at: timestampSchema,
};
const toolSchema = z.strictObject(toolFields).meta({ id: 'Tool' });
const noticeSchema = z.string().nullable().meta({
  description: 'Set while the agent is off, since an agent that is off calls no tool; else null',
  example: null,
});
const secretSchema = z.string().meta({
  description: 'Webhook kind: the signing secret. It is shown only here. Null for the HTTP kind.',
  example: 'whsec_…',
});

/** What every tool has, whatever its kind. */
const definitionFields = {
  description: descriptionSchema,
  parameters: parametersSchema.default({ type: 'object', properties: {} }),
  timeout: timeoutSchema.default(DEFAULT_TOOL_TIMEOUT_SECONDS),
  ask_before_running: askSchema.default(false),
  read_only: readOnlySchema.default(false),
  example_phrases: examplePhrasesSchema.default([]),
};

const operation = operationsOf({ tag: 'Tools', auth: 'key', extension: true });

export const createTool = operation('POST /tools', {
  addsToStore: 'data',
  summary: 'Create a tool',
  description:
    'A new tool is a draft. It can go live once a test call has succeeded. For a Webhook tool, the answer shows the signing secret, only this once.',
  body: z
    .strictObject({
      name: nameSchema,
      ...definitionFields,
      kind: z.enum(TOOL_KINDS, `must be ${TOOL_KINDS.join(' or ')}`),
      endpoint: endpointSchema.optional(),
      request_template: templateSchema.optional(),
      secrets: secretsSchema.optional(),
    })
    .meta({
      example: {
        name: 'find_order',
        description: 'Finds an order by its number and says where it is.',
        parameters: {
          type: 'object',
          properties: { order_number: { type: 'string' } },
          required: ['order_number'],
        },
        kind: 'Webhook',
        endpoint: 'https://n8n.example.com/webhook/6f1c2a52/tool',
      },
    }),
  status: 201,
  answer: z
    .strictObject({ ...toolFields, secret: secretSchema.nullable() })
    .meta({ id: 'CreatedTool' }),
  errors: ['tool_exists', 'tool_limit_reached', ...ADDRESS_ERRORS],
  noIdempotencyKey: true,
});

export const listTools = operation('GET /tools', {
  summary: 'List tools, newest first',
  query: pageQuerySchema.extend({
    name: z.string().optional().describe('Only the tool with this name'),
    status: oneOf(TOOL_STATUSES).optional(),
  }),
  answer: listOf(toolSchema),
});

export const getTool = operation('GET /tools/:id', {
  summary: 'Get a tool',
  answer: toolSchema,
  errors: ['not_found'],
});

export const updateTool = operation('PATCH /tools/:id', {
  addsToStore: 'data',
  summary: 'Update a tool',
  description:
    'Fields that you leave out keep their values; the kind cannot change. A change to how the tool is called (name, parameters, endpoint, request_template, secrets) makes it a draft again, which needs a new test call, and cancels calls that wait for approval; a tool that a workflow published and you paused stays paused, and needs the test call too. You can change description, example_phrases, read_only, timeout and ask_before_running while it is live. A new request_template removes stored secrets that it does not use. When request_template.url goes to another scheme, host or port, stored secrets are not sent there: give those that the request uses again in secrets (else 400, param secrets).',
  body: z
    .strictObject({
      name: nameSchema.optional(),
      description: descriptionSchema.optional(),
      parameters: parametersSchema.optional(),
      endpoint: endpointSchema.optional(),
      request_template: templateSchema.optional(),
      secrets: secretsSchema.optional(),
      timeout: timeoutSchema.optional(),
      ask_before_running: askSchema.optional(),
      read_only: readOnlySchema.optional(),
      example_phrases: examplePhrasesSchema.optional(),
    })
    .meta({ example: { description: 'Finds an order by its number.', timeout: 20 } }),
  answer: toolSchema,
  errors: ['not_found', 'tool_exists', ...ADDRESS_ERRORS],
  inSteps: true,
});

export const deleteTool = operation('DELETE /tools/:id', {
  summary: 'Delete a tool',
  description: 'Calls that wait for approval are cancelled. Past calls stay on record.',
  answer: deletedSchema,
  errors: ['not_found'],
});

export const testTool = operation('POST /tools/:id/test', {
  addsToStore: 'data',
  summary: 'Test a tool',
  description: `Makes one real call, as the agent would, with retries and with conversation_id "conv_test". The answer comes when the call has ended, after at most three attempts. A failed call is a 200 with the status failed.`,
  body: z
    .strictObject({ arguments: argumentsSchema.default({}) })
    .meta({ example: { arguments: { order_number: 'A-1042' } } }),
  answer: toolCallSchema,
  errors: ['not_found'],
  noIdempotencyKey: true,
});

export const goLive = operation('POST /tools/:id/go-live', {
  summary: 'Take a tool live',
  description:
    'Lets the agent call the tool. If a test call of the definition has succeeded, the tool goes live at once. Otherwise send `arguments`: the service answers, then makes the test call (after a 401 or 503 it tries again for 60 seconds) and takes the tool live if it succeeds. If it fails, the tool stays a draft, and `last_test` has the reason.',
  body: z
    .strictObject({ arguments: argumentsSchema.optional() })
    .meta({ example: { arguments: { order_number: 'A-1042' } } }),
  status: 202,
  answer: z.strictObject({ ...toolFields, notice: noticeSchema }).meta({ id: 'ToolGoingLive' }),
  errors: ['not_found', 'tool_not_tested'],
});

export const pauseTool = operation('POST /tools/:id/pause', {
  summary: 'Pause a tool',
  description:
    'The agent no longer calls the tool, and calls that wait for approval are cancelled. A draft stays a draft, also after a test call that is under way; one that a workflow published is paused, so that n8n does not take it live when it starts again.',
  answer: toolSchema,
  errors: ['not_found'],
});

export const rotateToolSecret = operation('POST /tools/:id/rotate-secret', {
  summary: 'Rotate the signing secret of a Webhook tool',
  description: 'From now on, only the new secret signs calls.',
  answer: z.strictObject({ ...toolFields, secret: secretSchema }).meta({ id: 'RotatedTool' }),
  errors: ['not_found', 'invalid_request'],
  noIdempotencyKey: true,
});

export const publishTool = operation('PUT /tools/published/:name', {
  addsToStore: 'data',
  summary: 'Publish a workflow as a tool',
  description: `Creates or changes the Webhook tool of this name, and lets it go live. The answer is 200 when it is live, or stays paused. It is 202 when this definition has not passed a test call yet, or when the tool has a new secret: the service then makes a test call with sample_arguments (after a 401 or 503 it tries again for 60 seconds). After a success the tool goes live by itself; after a failure it stays a draft with the reason in last_test. Publishing the same again changes nothing but the revision, and brings a paused tool back unless you send keep_paused. A tool that this owner published under another name gets this one.`,
  body: z
    .strictObject({
      definition: z.strictObject(
        { ...definitionFields, endpoint: endpointSchema },
        'must be an object',
      ),
      sample_arguments: argumentsSchema.default({}).meta({
        description: 'The arguments of the test call',
        example: { order_number: 'A-1042' },
      }),
      owner: ownerSchema,
      secret_hash: secretHashSchema.describe(
        "SHA-256 of the signing secret that the publisher holds. Without it, or when it is not that of the tool's secret, the tool gets a new secret, and the answer shows it",
      ),
      take_over: booleanSchema
        .default(false)
        .describe('Takes over the tool even while another workflow publishes it'),
      keep_paused: booleanSchema
        .default(false)
        .describe(
          'Leaves a tool that the team paused off, even if its definition or secret is new: no test call is made. A tool that another workflow can take over stays so',
        ),
    })
    .meta({
      example: {
        definition: {
          description: 'Finds an order by its number and says where it is.',
          parameters: {
            type: 'object',
            properties: { order_number: { type: 'string' } },
            required: ['order_number'],
          },
          endpoint: 'https://n8n.example.com/webhook/6f1c2a52/tool',
        },
        sample_arguments: { order_number: 'A-1042' },
        owner: {
          instance_id: '5d9f1c',
          workflow_id: 'rXz41Hqk',
          workflow_name: 'Find order',
          node_id: '2b7c9e4a-3f0d-4c1b-9a52-0f6d8e1c7b33',
          host: 'n8n.example.com',
        },
      },
    }),
  continues: ({ going_live }) => going_live,
  answer: z
    .strictObject({
      ...toolFields,
      secret: secretSchema
        .nullable()
        .describe(
          'A new signing secret. It is shown only here. Null when the publisher has it already.',
        ),
      notice: noticeSchema,
    })
    .meta({ id: 'PublishedTool' }),
  errors: ['tool_exists', 'published_elsewhere', 'tool_limit_reached', ...ADDRESS_ERRORS],
  noIdempotencyKey: true,
});

export const unpublishTool = operation('DELETE /tools/published/:name', {
  summary: 'Unpublish a workflow, which pauses its tool',
  description:
    'The tool is never removed. For 60 seconds its calls wait, those that wait for approval too; if it is not published again by then, they are cancelled. Nothing happens when it is gone, when another workflow published it, or when it was published again since the given revision.',
  query: z.object({
    ...ownerIdentityFields,
    revision: revisionSchema.describe(
      'The publication to take back; the newest when it is left out',
    ),
    endpoint: z.string().optional().describe('Pauses the tool only while it calls this address'),
  }),
  answer: z.strictObject({ name: z.string(), paused: z.boolean() }),
});
