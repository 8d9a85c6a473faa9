import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode } from '../../platform/http/errorCatalogue.ts';
import {
  EVENT_DESCRIPTIONS,
  EVENT_NAMES,
  EXTENSION_EVENTS,
  type EventName,
} from '../../deliveries/event.ts';
import { VERSION } from '../../platform/version.ts';
import { operations, type NamedOperation } from './apiOperations.ts';
import type { Operation } from '../../platform/http/operation.ts';
import { payloadSchemas } from '../../events/payloadContract.ts';
import { errorSchema } from '../../platform/http/schemas.ts';
import { ANSWER_EXAMPLES, payloadExample } from './apiExamples.ts';

/** A part of the document: JSON, written by hand or made by zod. */
type Json = Record<string, unknown>;

/**
 * Makes the OpenAPI 3.1 document from the schemas that check requests. OpenAPI 3.1 uses JSON Schema
 * 2020-12, which zod can write.
 */
export function openApiDocument(serverUrl: string): Json {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const each of operations) {
    const path = `/api${each.path.replace(/:([a-z_]+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [each.method]: operationObject(each, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Conversation Service',
      version: VERSION,
      description:
        'Subscribe to events, read and control conversations, and give the agent tools. Operations and events marked `x-extension` go beyond the core interface.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: [
      {
        name: 'Subscriptions',
        description: 'Events that the service POSTs to your address, and their deliveries',
      },
      {
        name: 'Conversations',
        description: 'Find, read, answer, take over, hand back and close conversations',
      },
      { name: 'Payments', description: 'Payment links for customers, and the payment providers' },
      {
        name: 'Channels',
        description: 'Connected accounts that conversations come from, apart from the web chat',
      },
      {
        name: 'Tools',
        description: 'The tools that the agent can call on your systems, and the calls it made',
      },
      {
        name: 'Waits',
        description: 'Questions to customers and to the team that let an execution go on',
      },
      { name: 'Agent', description: "The agent's settings" },
      { name: 'Chat', description: 'The web chat, as its page uses it' },
    ],
    paths,
    webhooks: Object.fromEntries(
      EVENT_NAMES.map((name) => [name, { post: webhookObject(name, schemas) }]),
    ),
    components: {
      schemas,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key, cs_live_…' },
        chat: {
          type: 'http',
          scheme: 'bearer',
          description: "A visitor's chat token, from POST /api/chat/sessions",
        },
      },
    },
  };
}

/** A schema as JSON Schema. A named schema goes to the components and is referred to. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { target: 'draft-2020-12', io });
  const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs, ...whole } = JSON.parse(text) as Json & { $defs?: Json };
  Object.assign(components, $defs);
  const { id, ...rest } = whole;
  if (typeof id !== 'string') return whole;
  components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}

/** All errors of an operation: its own, and those that every operation of its kind can have. */
export function errorsOf(operation: Operation): readonly ErrorCode[] {
  const common: ErrorCode[] = ['rate_limited', 'internal', 'unavailable'];
  if (operation.noIdempotencyKey) common.unshift('idempotency_key_not_allowed');
  if (operation.auth !== 'none') common.push('unauthorized');
  if (operation.auth === 'key' && !operation.isForEveryKey) common.push('permission_missing');
  if (operation.query || operation.body) common.push('invalid_request');
  if (operation.body) common.push('invalid_json', 'body_too_large', 'unsupported_media_type');
  if (takesIdempotencyKey(operation)) common.push('idempotency_key_reused', 'invalid_request');
  return [...new Set([...operation.errors, ...common])];
}

const takesIdempotencyKey = ({ method, noIdempotencyKey }: Operation): boolean =>
  method !== 'get' && !noIdempotencyKey;

function operationObject(operation: NamedOperation, components: Json): Json {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    'x-extension': operation.extension,
    security: operation.auth === 'none' ? [] : [{ [operation.auth]: [] }],
    parameters: [
      ...pathParameters(operation),
      ...queryParameters(operation),
      ...(takesIdempotencyKey(operation) ? [IDEMPOTENCY_KEY] : []),
    ],
    requestBody: operation.body && {
      // A request without a body is read as `{}`.
      required: !operation.body.safeParse({}).success,
      content: { 'application/json': { schema: jsonSchema(operation.body, 'input', components) } },
    },
    responses: {
      [operation.status]: answerObject(operation, components),
      ...(operation.continues && { 202: answerObject(operation, components) }),
      ...errorResponses(operation, components),
    },
  };
}

const answerObject = (operation: NamedOperation, components: Json): Json => ({
  description: 'Success',
  headers: { 'X-Request-Id': { schema: { type: 'string' } } },
  content: {
    [operation.answerType ?? 'application/json']: {
      schema: jsonSchema(operation.answer, 'output', components),
      example: ANSWER_EXAMPLES[operation.id],
    },
  },
});

/** What a subscriber receives. */
const webhookObject = (name: EventName, components: Json): Json => ({
  operationId: name,
  tags: ['Subscriptions'],
  summary: EVENT_DESCRIPTIONS[name],
  'x-extension': EXTENSION_EVENTS.has(name) || undefined,
  security: [],
  parameters: Object.entries(DELIVERY_HEADERS).map(([header, description]) => ({
    name: header,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })),
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: jsonSchema(payloadSchemas[name], 'output', components),
        example: payloadExample(name),
      },
    },
  },
  responses: {
    '2XX': {
      description:
        'You accepted the event. Answer within 10 seconds, unless DELIVERY_TIMEOUT_MS is set.',
    },
    '410': { description: 'You want no more events. The service removes the subscription.' },
    '4XX': { description: 'You refused the event. The service does not retry.' },
    '5XX': { description: 'You could not take the event. The service retries.' },
  },
});

const DELIVERY_HEADERS = {
  'X-Service-Signature':
    't=<unix>,v1=<hex>: HMAC-SHA256 over `<t>.<raw body>`, keyed by the secret',
  'X-Service-Event': 'The event name',
  'X-Service-Delivery': 'The payload id',
  'webhook-id': 'Standard Webhooks: the payload id',
  'webhook-timestamp': 'Standard Webhooks: the time of the signature',
  'webhook-signature':
    'Standard Webhooks: v1,<base64>, keyed by the 32 bytes that the secret encodes',
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', maxLength: 255 },
  description:
    'Makes repeating the call safe. For 24 hours, the same key and body return the first answer.',
};

const pathParameters = ({ path }: Operation) =>
  [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters({ query }: Operation) {
  if (!query) return [];
  const { properties, required } = z.toJSONSchema(query, { target: 'draft-2020-12', io: 'input' });
  // A query arrives as text. The output schema says which parameters are numbers.
  const outputs = z.toJSONSchema(query, { target: 'draft-2020-12', io: 'output' }).properties ?? {};
  return Object.keys(properties ?? {}).map((name) => ({
    name,
    in: 'query',
    required: required?.includes(name) ?? false,
    schema: outputs[name],
  }));
}

const RETRY_HEADERS = {
  'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait' },
};

function errorResponses(operation: Operation, components: Json): Json {
  const responses: Json = {};
  const byStatus = Map.groupBy(errorsOf(operation), (code) => ERROR_CATALOGUE[code].status);
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].fix}`).join('\n\n'),
      headers: status === 429 || status === 503 ? RETRY_HEADERS : undefined,
      content: {
        'application/json': {
          schema: jsonSchema(errorSchema, 'output', components),
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
        },
      },
    };
  }
  return responses;
}

const exampleOf = (code: ErrorCode) => ({
  error: { code, message: ERROR_CATALOGUE[code].fix, request_id: 'req_01JD6Z0000000000000000000A' },
});
