import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  ERROR_CATALOGUE,
  type ErrorCode,
} from '../../../../service/src/platform/http/errorCatalogue.ts';
import { operations } from '../../../../service/src/app/api/apiOperations.ts';
import { errorsOf } from '../../../../service/src/app/api/openapi.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the document is looked at field by field
type Json = any;

describe('the API contract', () => {
  let service: TestService;
  let document: Json;
  beforeAll(async () => {
    service = await startTestService();
    document = await (await fetch(`${service.url}/api/openapi.json`)).json();
  });
  afterAll(() => service?.stop());

  /** The core interface, row by row. */
  const SPECIFIED = [
    'get /api/hooks/events',
    'post /api/hooks',
    'get /api/hooks',
    'delete /api/hooks/{id}',
    'get /api/hooks/{id}/deliveries',
    'get /api/hooks/sample',
    'post /api/contacts/lookup',
    'get /api/conversations/{id}',
    'post /api/conversations/{id}/messages',
    'post /api/conversations/{id}/takeover',
    'post /api/conversations/{id}/handback',
    'post /api/conversations/{id}/close',
  ];
  const documented = () =>
    Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, each]) => ({
        row: `${method} ${path}`,
        ...each,
      })),
    );

  const errorCodes = () =>
    documented().flatMap(({ responses }) =>
      Object.values<Json>(responses).flatMap(({ content }) =>
        Object.keys(content?.['application/json']?.examples ?? {}),
      ),
    );

  it('is OpenAPI 3.1 and has the whole core interface; everything else is marked as an extension', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(
      documented()
        .filter((each) => !each['x-extension'])
        .map(({ row }) => row)
        .sort(),
    ).toEqual([...SPECIFIED].sort());
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  });

  it('every error of the catalogue is documented somewhere and every documented one is in the catalogue', () => {
    const anywhere: ErrorCode = 'method_not_allowed';
    expect([...new Set(errorCodes()), anywhere].sort()).toEqual(
      Object.keys(ERROR_CATALOGUE).sort(),
    );
    for (const operation of operations) {
      const { responses } = documented().find(({ operationId }) => operationId === operation.id);
      for (const code of errorsOf(operation))
        expect(
          responses[ERROR_CATALOGUE[code].status].content['application/json'].examples,
        ).toHaveProperty(code);
    }
  });

  it('a body is required where something has to be in it', () => {
    const bodies = new Map(
      documented().map(({ operationId, requestBody }) => [operationId, requestBody?.required]),
    );
    expect(bodies.get('closeConversation')).toBe(true);
    expect(bodies.get('approveToolCall')).toBe(false);
    expect(bodies.get('takeOverConversation')).toBeUndefined();
  });

  it('its schemas are valid JSON Schema 2020-12, and real answers and examples pass them', async () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'api', ...document });
    const validators = new Map<string, ValidateFunction>();
    /** Many places have the same schema, and compiling one takes long. */
    const validatorOf = (schema: Json) => {
      const text = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"api#');
      const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
      validators.set(text, validate);
      return validate;
    };
    const pass = (where: string, schema: Json, value: unknown) => {
      const validate = validatorOf(schema);
      expect({ where, errors: validate(value) ? null : validate.errors }).toEqual({
        where,
        errors: null,
      });
    };
    for (const { row, requestBody, responses } of documented()) {
      if (requestBody) {
        const { schema } = requestBody.content['application/json'];
        expect(schema.example).toBeDefined();
        pass(`the request of ${row}`, schema, schema.example);
      }
      const done = Object.keys(responses).find((status) => status.startsWith('2'))!;
      const [{ schema, example }] = Object.values<Json>(responses[done].content);
      expect({ row, has: example !== undefined }).toEqual({ row, has: true });
      pass(`${done} of ${row}`, schema, example);
      for (const [status, { content }] of Object.entries<Json>(responses)) {
        const { schema, examples } = content['application/json'] ?? {};
        for (const { value } of Object.values<Json>(examples ?? {}))
          pass(`${status} of ${row}`, schema, value);
      }
    }
    const extensions = Object.keys(document.webhooks).filter(
      (name) => document.webhooks[name].post['x-extension'],
    );
    expect(extensions).toEqual([
      'conversation.awaiting_human',
      'approval.requested',
      'approval.decided',
    ]);
    expect(Object.keys(document.webhooks)).toHaveLength(7 + extensions.length);
    for (const [name, { post }] of Object.entries<Json>(document.webhooks)) {
      const { schema, example } = post.requestBody.content['application/json'];
      pass(name, schema, example);
    }
    const { conversation_id: id } = await (
      await chatCustomer(service.url, { name: 'Ana' })
    ).write('hello');
    const closing = { summary: 's', verdict: 'unknown' };
    const subscription = { event: 'message.sent', target_url: 'https://127.0.0.1:9/' };
    const calls: [string, string, object?][] = [
      ['get', '/api/conversations/{id}'],
      ['post', '/api/conversations/{id}/close', closing],
      ['get', '/api/hooks/events'],
      ['post', '/api/hooks', subscription],
      ['get', '/api/hooks'],
    ];
    for (const [method, path, sent] of calls) {
      const at = path.replace('{id}', id);
      const { status, body } = await service.api.call(method.toUpperCase(), at, sent);
      const { schema } = document.paths[path][method].responses[status].content['application/json'];
      pass(`${method} ${path}`, schema, body);
    }
  });

  it('serves pages that show every endpoint, event, error and object, without scripts', async () => {
    const read = async (path: string) => {
      const page = await fetch(service.url + path);
      expect([path, page.status]).toEqual([path, 200]);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      const html = await page.text();
      expect(html).not.toContain('<script');
      expect(Buffer.byteLength(html)).toBeLessThan(300 * 1024);
      return html;
    };
    const index = await read('/api/docs');
    const links = [...index.matchAll(/href="(\/api\/docs\/[a-z]+)"/g)].map(([, path]) => path!);
    const pages = await Promise.all([...new Set(links)].map(read));
    const all = pages.join('');
    const ids = [
      ...documented().map(({ operationId }) => operationId),
      ...Object.keys(document.webhooks),
      ...Object.keys(document.components.schemas),
    ];
    expect(ids.filter((id) => !all.includes(`id="${id}"`))).toEqual([]);
    expect([...all.matchAll(/(?:at least|at most|to) 1 (?:item|character)\b/g)]).not.toEqual([]);
    expect(all).not.toMatch(/\b(?:at least|at most|to) 1 (?:items|characters)\b/);
    expect(errorCodes().filter((code) => !all.includes(`<code>${code}</code>`))).toEqual([]);
    const anchors = [...all.matchAll(/href="\/api\/docs\/objects#(\w+)"/g)];
    expect(anchors.filter(([, name]) => !all.includes(`id="${name}"`))).toEqual([]);
    const files = [...index.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file]) => file!);
    for (const file of files) expect((await fetch(service.url + file)).status).toBe(200);
  });
});
