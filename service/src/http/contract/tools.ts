import { z } from 'zod';
import {
  MAX_EXAMPLE_PHRASE_CHARACTERS,
  MAX_EXAMPLE_PHRASES,
  TOOL_KINDS,
  TOOL_NAME_PATTERN,
  TOOL_NAME_RULE,
  TOOL_STATUSES,
  DEFAULT_TOOL_TIMEOUT_SECONDS,
  MAX_TOOL_TIMEOUT_SECONDS,
} from '../../domain/tool.ts';
import { operation } from './operation.ts';
import {
  jsonObjectSchema,
  listOf,
  ownerIdentityFields,
  ownerSchema,
  pageQuerySchema,
  textSchema,
  timestampSchema,
} from './shared.ts';
import { toolCallSchema } from './toolCalls.ts';

const TOOL_ID = 'tool_01JD6Z0000000000000000000A';

const nameSchema = z
  .string('must be a text')
  .regex(TOOL_NAME_PATTERN, TOOL_NAME_RULE)
  .meta({ example: 'find_order' });
const descriptionSchema = textSchema(1024).meta({
  description: 'The agent decides from it when to call the tool',
  example: 'Finds an order by its number and says where it is.',
});
const parametersSchema = jsonObjectSchema.meta({
  description: 'JSON Schema 2020-12 of the arguments, an object at its root',
  example: {
    type: 'object',
    properties: { order_number: { type: 'string', description: 'Order number' } },
    required: ['order_number'],
  },
});
const endpointSchema = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(2048, 'must have at most 2048 characters')
  .meta({
    description: 'Webhook kind: https:// and public',
    example: 'https://n8n.example.com/webhook/6f1c2a52/tool',
  });
const templateSchema = jsonObjectSchema.meta({
  description:
    'HTTP kind: method, url, query, headers, body, response_fields; with {{args.x}}, {{conversation.id}}, {{call.id}} and, in headers only, {{secrets.NAME}}',
  example: {
    method: 'GET',
    url: 'https://api.example.com/orders/{{args.order_number}}',
    headers: { authorization: 'Bearer {{secrets.API_TOKEN}}' },
  },
});
const secretsSchema = z
  .record(
    z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
        'has a name that is not made of letters, digits and _',
      ),
    z
      .string('must be a text')
      .trim()
      .min(1, 'must not be empty')
      .max(4096, 'must have at most 4096 characters'),
    'must be an object of texts',
  )
  .refine((secrets) => Object.keys(secrets).length <= 20, 'must have at most 20 entries')
  .meta({
    description: 'HTTP kind: values for {{secrets.NAME}}; never shown again',
    example: { API_TOKEN: 's3cret' },
  });
const timeoutSchema = z
  .number('must be a number of seconds')
  .min(1, `must be from 1 to ${MAX_TOOL_TIMEOUT_SECONDS}`)
  .max(MAX_TOOL_TIMEOUT_SECONDS, `must be from 1 to ${MAX_TOOL_TIMEOUT_SECONDS}`)
  .meta({ description: 'Seconds for one attempt' });
const askSchema = z
  .boolean('must be true or false')
  .meta({ description: 'When on, a person decides about each call before it is made' });
const readOnlySchema = z.boolean('must be true or false').meta({
  description:
    'When on, the tool only looks something up and changes nothing: the keyword agent calls it without asking the customer first. The same as readOnlyHint of MCP',
});
const examplePhrasesSchema = z
  .array(textSchema(MAX_EXAMPLE_PHRASE_CHARACTERS), 'must be a list of texts')
  .max(MAX_EXAMPLE_PHRASES, `must have at most ${MAX_EXAMPLE_PHRASES} entries`)
  .meta({
    description: 'What customers write when they want this tool; the agent compares with them',
    example: ['where is my order', 'has my package left'],
  });
const argumentsSchema = jsonObjectSchema.meta({
  description: "Inputs conforming to the tool's parameters",
  example: { order_number: 'A-1042' },
});

const toolFields = {
  id: z.string().meta({ example: TOOL_ID }),
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  kind: z.enum(TOOL_KINDS),
  endpoint: z.string().nullable().meta({ description: 'Webhook kind; null otherwise' }),
  request_template: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'HTTP kind; null otherwise' }),
  secret_names: z
    .array(z.string())
    .meta({ description: 'HTTP kind: the names of its secrets; the values are never shown' }),
  timeout: z.number(),
  ask_before_running: z.boolean(),
  read_only: z.boolean(),
  example_phrases: z.array(z.string()),
  status: z.enum(TOOL_STATUSES),
  tested_at: timestampSchema.nullable().meta({
    description:
      'When a call of this very definition succeeded; null after an edit to how it is called',
  }),
  going_live: z
    .boolean()
    .meta({ description: 'A test call is under way, after whose success the tool goes live' }),
  owner: ownerSchema
    .nullable()
    .meta({ description: 'The workflow that published the tool; null when none did' }),
  revision: z
    .number()
    .meta({ description: 'How often the tool was published; 0 when it never was' }),
  last_test: z
    .strictObject({
      tool_call_id: z.string(),
      succeeded: z.boolean(),
      error: z.string().nullable(),
      at: timestampSchema,
    })
    .nullable()
    .meta({ description: 'How the newest test call of this definition ended' }),
  created_at: timestampSchema,
  updated_at: timestampSchema,
};
const toolSchema = z.strictObject(toolFields).meta({ id: 'Tool' });
const secretSchema = z.string().meta({
  description: 'Webhook kind: the signing secret, shown this once; null for the HTTP kind',
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

const common = { tag: 'Tools', auth: 'key', extension: true } as const;
const addressErrors = [
  'target_url_invalid',
  'target_url_not_https',
  'target_url_not_public',
  'target_url_unresolvable',
] as const;

export const createTool = operation({
  ...common,
  id: 'createTool',
  adds: 'data',
  method: 'post',
  path: '/tools',
  summary: 'Define a tool',
  description:
    'It begins as a draft. It can go live once a test call has succeeded. The answer shows the signing secret of a Webhook tool, once.',
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
  errors: ['tool_exists', 'tool_limit_reached', ...addressErrors, 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});

export const listTools = operation({
  ...common,
  id: 'listTools',
  method: 'get',
  path: '/tools',
  summary: "The workspace's tools, newest first",
  query: pageQuerySchema.extend({
    name: z.string().optional().meta({ description: 'Only the tool of this name' }),
    status: z.enum(TOOL_STATUSES, `must be one of ${TOOL_STATUSES.join(', ')}`).optional(),
  }),
  status: 200,
  answer: listOf(toolSchema),
  errors: [],
});

export const getTool = operation({
  ...common,
  id: 'getTool',
  method: 'get',
  path: '/tools/:id',
  summary: 'Read a tool',
  status: 200,
  answer: toolSchema,
  errors: ['not_found'],
});

export const updateTool = operation({
  ...common,
  id: 'updateTool',
  adds: 'data',
  method: 'patch',
  path: '/tools/:id',
  summary: 'Change a tool',
  description:
    'What is left out stays. A change to how it is called (name, parameters, endpoint, request_template, secrets) makes it a draft that has to be tested again and cancels what waits for approval; description, example_phrases, read_only, timeout and ask_before_running can change while it is live. The kind stays. When request_template.url goes to another scheme, host or port, stored secrets are not sent there: give those that the request uses again in secrets (else 400, param secrets); the others are removed.',
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
  status: 200,
  answer: toolSchema,
  errors: ['not_found', 'tool_exists', ...addressErrors],
});

export const deleteTool = operation({
  ...common,
  id: 'deleteTool',
  method: 'delete',
  path: '/tools/:id',
  summary: 'Remove a tool',
  description: 'What waits for approval is cancelled; the calls it made stay on record.',
  status: 200,
  answer: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
  errors: ['not_found'],
});

export const testTool = operation({
  ...common,
  id: 'testTool',
  adds: 'data',
  method: 'post',
  path: '/tools/:id/test',
  summary: 'Make one real call, as the agent would, and answer how it ended',
  description: `Runs the very path of a live call, retries included, with conversation_id "conv_test". The answer comes when the call has ended: after three attempts at the latest. A call that failed is a 200 with status failed.`,
  body: z
    .strictObject({ arguments: argumentsSchema.default({}) })
    .meta({ example: { arguments: { order_number: 'A-1042' } } }),
  status: 200,
  answer: toolCallSchema,
  errors: ['not_found', 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});

export const goLive = operation({
  ...common,
  id: 'goLive',
  method: 'post',
  path: '/tools/:id/go-live',
  summary: 'Let the agent call the tool',
  description:
    'A definition whose test has succeeded goes live at once. Otherwise give sample arguments: the service makes the test call after it has answered (a 401 or 503 is asked again for 60 seconds) and then goes live; a failure leaves the draft with the reason in last_test.',
  body: z
    .strictObject({ arguments: argumentsSchema.optional() })
    .meta({ example: { arguments: { order_number: 'A-1042' } } }),
  status: 202,
  answer: toolSchema,
  errors: ['not_found', 'tool_not_tested'],
});

export const pauseTool = operation({
  ...common,
  id: 'pauseTool',
  method: 'post',
  path: '/tools/:id/pause',
  summary: 'Let the agent call the tool no more',
  description:
    'What waits for approval is cancelled. A draft stays a draft, and does not go live when a test call that is under way succeeds.',
  status: 200,
  answer: toolSchema,
  errors: ['not_found'],
});

export const rotateToolSecret = operation({
  ...common,
  id: 'rotateToolSecret',
  method: 'post',
  path: '/tools/:id/rotate-secret',
  summary: 'Give a Webhook tool a new signing secret',
  description: 'It signs from now on, alone.',
  status: 200,
  answer: z.strictObject({ ...toolFields, secret: secretSchema }).meta({ id: 'RotatedTool' }),
  errors: ['not_found', 'invalid_request', 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});

export const publishTool = operation({
  ...common,
  id: 'publishTool',
  adds: 'data',
  method: 'put',
  path: '/tools/published/:name',
  summary: 'Publish a workflow as a tool',
  description: `Creates or changes the Webhook tool of this name, and lets it go live. The answer is 200 when it is live. It is 202 when this definition has not passed a test call yet, or when the tool has a new secret: the service then makes a test call with sample_arguments, and a 401 or 503 is asked again for 60 seconds. After a success the tool goes live by itself; after a failure it stays a draft with the reason in last_test. Publishing the same again changes nothing but the revision. A tool that this owner published under another name gets this one.`,
  body: z
    .strictObject({
      definition: z.strictObject(
        { ...definitionFields, endpoint: endpointSchema },
        'must be an object',
      ),
      sample_arguments: argumentsSchema
        .default({})
        .meta({ description: 'For the test call', example: { order_number: 'A-1042' } }),
      owner: ownerSchema,
      secret_hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 hash in lower-case hexadecimal')
        .optional()
        .meta({
          description:
            "SHA-256 of the signing secret that the publisher holds. Without it, or when it is not that of the tool's secret, the tool gets a new secret, and the answer shows it",
        }),
      take_over: z
        .boolean('must be true or false')
        .default(false)
        .meta({ description: 'Takes the tool also while somebody else has it in use' }),
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
  status: 200,
  goesOn: ({ going_live }) => going_live,
  answer: z
    .strictObject({
      ...toolFields,
      secret: secretSchema.nullable().meta({
        description: 'A new signing secret, shown this once; null when the publisher holds it',
      }),
    })
    .meta({ id: 'PublishedTool' }),
  errors: [
    'tool_exists',
    'published_elsewhere',
    'tool_limit_reached',
    ...addressErrors,
    'idempotency_key_not_allowed',
  ],
  noIdempotencyKey: true,
});

export const unpublishTool = operation({
  ...common,
  id: 'unpublishTool',
  method: 'delete',
  path: '/tools/published/:name',
  summary: 'Pause a tool for the workflow that published it',
  description:
    'The tool is never removed. Nothing happens when it is gone, when another workflow published it, or when it was published again since the given revision.',
  query: z.object({
    ...ownerIdentityFields,
    revision: z.coerce
      .number('must be a number')
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .optional()
      .meta({ description: 'The publication to take back; the newest when it is left out' }),
    endpoint: z
      .string()
      .optional()
      .meta({ description: 'Pauses the tool only while it calls this address' }),
  }),
  status: 200,
  answer: z.strictObject({ name: z.string(), paused: z.boolean() }),
  errors: [],
});
