import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { ERROR_CATALOGUE, type ErrorCode } from '../domain/errorCatalogue.ts';
import { operations } from './contract/index.ts';
import type { Operation } from './contract/operation.ts';
import { errorSchema } from './contract/shared.ts';

/** The OpenAPI 3.1 document, made from the very schemas that check requests. */
export function openApiDocument(serverUrl: string): Record<string, unknown> {
  const paths: ZodOpenApiPathsObject = {};
  for (const each of operations) {
    const path = `/api${each.path.replace(/:([a-z_]+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [each.method]: operationObject(each) };
  }
  return { ...createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Conversation Service',
      version: '0.1.0',
      description: 'What an automation reads and does, and the subscriptions to events. Operations marked x-extension are not in the specification.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: [
      { name: 'Subscriptions', description: 'Events POSTed to your address, and what became of them' },
      { name: 'Conversations', description: 'Find, read, answer, take over, hand back, close' },
      { name: 'Chat', description: 'How customers write in the web chat' },
    ],
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key: cs_live_…' },
        chat: { type: 'http', scheme: 'bearer', description: "A visitor's token, from POST /api/chat/sessions" },
      },
    },
    paths,
  }) };
}

/** What can go wrong with an operation, beside its own errors. */
export function errorsOf(operation: Operation): readonly ErrorCode[] {
  const common: ErrorCode[] = ['rate_limited', 'internal', 'unavailable'];
  if (operation.auth !== 'none') common.push('unauthorized');
  if (operation.query || operation.body) common.push('invalid_request');
  if (operation.body) common.push('invalid_json', 'body_too_large', 'unsupported_media_type');
  if (operation.method !== 'get' && !operation.showsSecret) common.push('idempotency_key_reused', 'invalid_request');
  return [...new Set([...operation.errors, ...common])];
}

function operationObject(operation: Operation): ZodOpenApiOperationObject {
  const responses: Record<string, object> = {
    [operation.status]: {
      description: 'Done',
      headers: { 'X-Request-Id': { schema: { type: 'string' } } },
      content: { 'application/json': { schema: operation.answer } },
    },
  };
  const byStatus = Map.groupBy(errorsOf(operation), (code) => ERROR_CATALOGUE[code].status);
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].fix}`).join('\n\n'),
      ...(status === 429 || status === 503 ? { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds' } } } : {}),
      content: {
        'application/json': {
          schema: errorSchema,
          examples: Object.fromEntries(codes.map((code) => [code, { value: { error: { code, message: ERROR_CATALOGUE[code].fix, request_id: 'req_01JD6Z0000000000000000000A' } } }])),
        },
      },
    };
  }
  const idempotent = operation.method !== 'get' && !operation.showsSecret;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.extension ? { 'x-extension': true } : {}),
    security: operation.auth === 'none' ? [] : [{ [operation.auth]: [] }],
    parameters: [
      ...[...operation.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({ name: name!, in: 'path' as const, required: true, schema: { type: 'string' as const } })),
      ...(idempotent
        ? [{ name: 'Idempotency-Key', in: 'header' as const, required: false, schema: { type: 'string' as const, maxLength: 255 }, description: 'Kept 24 hours: the same key and body give the first answer again' }]
        : []),
    ],
    ...(operation.query ? { requestParams: { query: operation.query as never } } : {}),
    ...(operation.body ? { requestBody: { required: true, content: { 'application/json': { schema: operation.body as never } } } } : {}),
    responses: responses as never,
  };
}
