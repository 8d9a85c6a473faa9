// n8n shows the fields of an operation before its first run, from the files in __schema__. They are
// made from the API's document, or from what the node makes of an example: WRITE_SCHEMAS=1 writes
// them.
import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '../../service/src/app/api/openapi.ts';
import { builtFile } from './helpers/builtFile.ts';

const FOLDER = fileURLToPath(
  new URL('../../nodes/ConversationService/__schema__/v1.0.0', import.meta.url),
);

/** The call that each operation makes. Null where the output is not an answer of the service. */
const CALLS: Record<string, Record<string, string | null>> = {
  agent: {
    get: 'GET /agent',
    turnOff: 'PATCH /agent',
    turnOn: 'PATCH /agent',
    update: 'PATCH /agent',
  },
  approval: { sendAndWait: null }, // What the node makes of a wait; see MADE.
  agentTurn: {
    close: 'POST /agent-turns/{id}/close',
    end: 'POST /agent-turns/{id}/end',
    get: 'GET /agent-turns/{id}',
    getAll: 'GET /agent-turns',
    handOver: 'POST /agent-turns/{id}/hand-over',
    reply: 'POST /agent-turns/{id}/replies',
  },
  contact: { find: 'GET /contacts', get: 'GET /contacts/{id}', getAll: 'GET /contacts' },
  conversation: {
    close: 'POST /conversations/{id}/close',
    findByContact: 'POST /contacts/lookup',
    get: 'GET /conversations/{id}',
    getAll: 'GET /conversations',
    handBack: 'POST /conversations/{id}/handback',
    sendAndWait: null,
    sendMessage: 'POST /conversations/{id}/messages',
    setFunnelStage: 'PATCH /conversations/{id}',
    takeOver: 'POST /conversations/{id}/takeover',
  },
  message: { getAll: 'GET /conversations/{id}/messages' },
  note: { create: 'POST /conversations/{id}/notes' },
  paymentLink: {
    cancel: 'POST /payment-links/{id}/cancel',
    create: 'POST /conversations/{id}/payment-links',
    get: 'GET /payment-links/{id}',
    getAll: 'GET /payment-links',
    markPaid: 'POST /payment-links/{id}/mark-paid',
  },
  subscription: {
    delete: 'DELETE /hooks/{id}',
    getAll: 'GET /hooks',
    getDeliveries: 'GET /hooks/{id}/deliveries',
    getEvents: 'GET /hooks/events',
    getSample: null, // Another payload for each event.
    recover: 'POST /hooks/{id}/recover',
    redeliver: 'POST /hooks/{id}/deliveries/{delivery_id}/redeliver',
    revokePreviousSecrets: 'POST /hooks/{id}/revoke-previous-secrets',
    rotateSecret: 'POST /hooks/{id}/rotate-secret',
    sendTestEvent: 'POST /hooks/{id}/test',
  },
  tool: {
    get: 'GET /tools/{id}',
    getAll: 'GET /tools',
    goLive: 'POST /tools/{id}/go-live',
    pause: 'POST /tools/{id}/pause',
    test: 'POST /tools/{id}/test',
  },
  toolCall: {
    approve: 'POST /tool-calls/{id}/approve',
    get: 'GET /tool-calls/{id}',
    getAll: 'GET /tool-calls',
    reject: 'POST /tool-calls/{id}/reject',
    respond: null, // Passes its items on.
  },
};

const WAIT = {
  id: 'wait_1',
  conversation_id: 'conv_1',
  turn_id: 'turn_1',
  created_at: '2026-11-23T10:00:00.000+00:00',
  ended_at: '2026-11-23T10:00:42.000+00:00',
};

/** What the node itself makes of an answer of the service, from an example without a null. */
const MADE: Record<string, () => unknown> = {
  'approval/sendAndWait': () =>
    builtFile<{ toDecision(wait: unknown): unknown }>('waits/decisionOutput').toDecision({
      ...WAIT,
      status: 'rejected',
      decision: {
        approved: false,
        by: { type: 'team_member', name: 'Ana' },
        note: 'Not yet',
        at: WAIT.ended_at,
      },
    }),
  'conversation/sendAndWait': () =>
    builtFile<{ toReply(wait: unknown): unknown }>('waits/replyOutput').toReply({
      ...WAIT,
      status: 'answered',
      answer: {
        text: 'A-1042',
        value: 'A-1042',
        messages: [{ id: 'msg_1', text: 'A-1042', created_at: WAIT.ended_at }],
        seconds_waited: 42,
      },
    }),
};

interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
}
type Responses = Record<string, { content?: { 'application/json'?: { schema: Schema } } }>;
interface ApiDocument {
  paths: Record<string, Record<string, { responses: Responses }>>;
  components: { schemas: Record<string, Schema> };
}
interface BuiltOperation {
  option: { value: string };
  record?: { simplified: Record<string, string> };
}

const written: Record<string, object> = {};
afterAll(() => {
  if (!process.env.WRITE_SCHEMAS) return;
  rmSync(FOLDER, { recursive: true, force: true });
  for (const [path, schema] of Object.entries(written)) {
    mkdirSync(dirname(join(FOLDER, path)), { recursive: true });
    writeFileSync(join(FOLDER, path), `${JSON.stringify(schema, null, '\t')}\n`);
  }
});

const operationsOf = (resource: string) =>
  builtFile<Record<string, { operations: BuiltOperation[] }>>(`actions/${resource}/index`)[
    resource
  ]!.operations;

const document = openApiDocument('') as unknown as ApiDocument;

/** The schema of what a call answers: of each item, when it is a list. */
function answerOf(call: string): Schema {
  const [method, path] = call.split(' ') as [string, string];
  const responses = document.paths[`/api${path}`]?.[method.toLowerCase()]?.responses ?? {};
  const [, response] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  if (!response) throw new Error(`The document of the API has no ${call}`);
  const answer = plain(response.content!['application/json']!.schema);
  return answer.properties?.data?.items ?? answer;
}

/** The schema of an example. */
function schemaOf(value: unknown): Schema {
  if (Array.isArray(value)) return { type: 'array', items: schemaOf(value[0]) };
  if (typeof value !== 'object') return { type: typeof value };
  return { type: 'object', properties: mapValues(value as Record<string, unknown>, schemaOf) };
}

/** The schema with nothing but what n8n reads: types, properties and items. */
function plain(schema: Schema): Schema {
  const { $ref, anyOf, properties, items } = schema;
  if ($ref) return plain(document.components.schemas[$ref.split('/').at(-1)!]!);
  const chosen = anyOf?.find(({ type }) => type !== 'null');
  if (chosen) return plain(chosen);
  const type = [schema.type ?? 'object'].flat().find((each) => each !== 'null');
  return {
    type: type === 'integer' ? 'number' : type,
    ...(properties ? { properties: mapValues(properties, plain) } : {}),
    ...(items ? { items: plain(items) } : {}),
  };
}

const mapValues = <From, To>(from: Record<string, From>, map: (value: From) => To) =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, map(value)]));

/** The output of an operation by default. */
function outputOf(answer: Schema, { record }: BuiltOperation): Schema {
  const { secret: _never, ...properties } = answer.properties ?? {};
  if (properties.arguments) properties.args = properties.arguments;
  const at = (path: string) =>
    path
      .split('.')
      .reduce<Schema>((schema, key) => schema.properties![key]!, { type: 'object', properties });
  return {
    type: 'object',
    properties: record ? mapValues(record.simplified, at) : properties,
  };
}

describe('The output schemas', () => {
  it('say what each operation outputs, by the document of the API', () => {
    for (const [resource, calls] of Object.entries(CALLS)) {
      const operations = operationsOf(resource);
      const names = operations.map(({ option }) => option.value);
      expect(names.sort()).toEqual(Object.keys(calls).sort());
      for (const operation of operations) {
        const name = operation.option.value;
        const call = calls[name];
        if (!call) continue;
        written[`${resource}/${name}.json`] = {
          ...outputOf(answerOf(call), operation),
          version: 1,
        };
      }
    }
    for (const [operation, make] of Object.entries(MADE))
      written[`${operation}.json`] = { ...schemaOf(make()), version: 1 };
    if (process.env.WRITE_SCHEMAS) return;
    const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(FOLDER, join(entry.parentPath, entry.name)));
    expect(files.sort()).toEqual(Object.keys(written).sort());
    for (const [path, schema] of Object.entries(written))
      expect([path, JSON.parse(readFileSync(join(FOLDER, path), 'utf8'))]).toEqual([path, schema]);
  });
});
