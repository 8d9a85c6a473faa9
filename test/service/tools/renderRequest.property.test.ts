import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../service/src/platform/json.ts';
import {
  renderRequest,
  RequestRenderError,
  type RenderedRequest,
} from '../../../service/src/tools/definition/renderRequest.ts';
import {
  parseRequestTemplate,
  type RequestTemplate,
} from '../../../service/src/tools/definition/requestTemplate.ts';

/** Whatever arguments a model writes, the request is the one of the template, or there is none. */

const SECRET = 'S3cr3t!key-4711';
const NAMES = ['a', 'b', 'c'];
const SCHEMA = { properties: { a: {}, b: {}, c: { type: 'object' } } };

const placeholder = fc.constantFrom(
  '{{args.a}}',
  '{{args.b}}',
  '{{ args.c.x }}',
  '{{conversation.id}}',
  '{{call.id}}',
);
const literal = fc.constantFrom('', 'x', '.', '-', 'v1', '%2F', '%2e', '%25', ';', 'ü');
const text = fc
  .array(fc.oneof(placeholder, placeholder, literal), { maxLength: 4 })
  .map((parts) => parts.join(''));

const url = fc
  .record({
    port: fc.constantFrom('', ':8443'),
    segments: fc.array(text, { maxLength: 4 }),
    values: fc.array(text, { maxLength: 2 }),
  })
  .map(
    ({ port, segments, values }) =>
      `https://api.example.com${port}/${segments.join('/')}${values.length ? `?${values.map((value, index) => `q${index}=${value}`).join('&')}` : ''}`,
  );

const header = fc
  .array(fc.oneof(placeholder, fc.constantFrom('Bearer ', 'x', '{{secrets.KEY}}')), {
    maxLength: 3,
  })
  .map((parts) => parts.join(''));
const names = (value: fc.Arbitrary<string>, ...keys: string[]) =>
  fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 3 });

const tree = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.oneof(
      text,
      placeholder,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ) as fc.Arbitrary<Json>,
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('k', 'm', '__proto__', 'constructor'), tie('node'), {
      maxKeys: 3,
    }),
  ),
})).node;

const unparsedTemplate = fc.record({
  method: fc.constantFrom('POST', 'put', 'DELETE'),
  url,
  query: names(text, 'q', 'r', '__proto__'),
  headers: names(header, 'X-Key', 'Authorization', 'X-Other'),
  body: fc.oneof(tree, fc.constant(null)),
});

const hostile = fc.constantFrom(
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '../x',
  '..\\x',
  '%252e%252e',
  '/',
  '\\',
  '?',
  '#',
  '@',
  ':',
  '',
  '\r\nX-Evil: 1',
  '\n',
  '\0',
  '\ud800',
  '{{secrets.KEY}}',
  '{{args.a}}',
  '．．',
  '//evil.example',
  'http://evil.example',
  '&q0=1',
  ' ',
);
const json = fc.oneof(
  hostile,
  fc.string({ unit: 'binary' }),
  fc.jsonValue({ stringUnit: 'binary' }),
) as fc.Arbitrary<Json>;
const args = fc.dictionary(
  fc.constantFrom(...NAMES, '__proto__', 'constructor'),
  fc.oneof(json, fc.record({ x: json })),
  { maxKeys: 5 },
) as fc.Arbitrary<JsonObject>;

/** @returns null where the template or the arguments are refused, which is right as well */
function rendered(
  unparsed: object,
  given: JsonObject,
): { template: RequestTemplate; request: RenderedRequest } | null {
  let template: RequestTemplate;
  try {
    template = parseRequestTemplate(unparsed, { parameters: SCHEMA, secretNames: ['KEY'] });
  } catch {
    return null;
  }
  try {
    return {
      template,
      request: renderRequest(template, {
        arguments: given,
        conversationId: 'conv_1',
        callId: 'call_1',
        secrets: { KEY: SECRET },
      }),
    };
  } catch (error) {
    expect(error).toBeInstanceOf(RequestRenderError);
    expect((error as Error).message).not.toContain(SECRET);
    return null;
  }
}

const SOLE_PLACEHOLDER = /^\{\{[^{}]*\}\}$/;

/**
 * Expects the body to have the template's shape. A string that is one placeholder may become any
 * value, or be left out; any other string stays a string.
 */
function expectShape(shape: Json, value: Json | undefined): void {
  if (typeof shape === 'string') {
    if (!SOLE_PLACEHOLDER.test(shape)) expect(typeof value).toBe('string');
  } else if (Array.isArray(shape)) {
    expect(value).toHaveLength(shape.length);
    shape.forEach((item: Json, index) => expectShape(item, (value as Json[])[index]));
  } else if (isJsonObject(shape)) {
    const fields = value as JsonObject;
    for (const key of Object.keys(fields)) expect(Object.keys(shape)).toContain(key);
    for (const [key, item] of Object.entries(shape)) {
      if (Object.hasOwn(fields, key)) expectShape(item, fields[key]);
      else expect(item).toMatch(SOLE_PLACEHOLDER);
    }
  } else expect(value).toStrictEqual(shape);
}

/** Decodes until nothing changes, as a careless server might. */
function decoded(segment: string): string {
  try {
    const once = decodeURIComponent(segment);
    return once === segment ? once : decoded(once);
  } catch {
    return segment;
  }
}

type Check = (request: RenderedRequest, template: RequestTemplate) => void;

const goesWhereTheTemplateSays: Check = (request, template) => {
  const parsed = new URL(request.url);
  const path = template.url
    .replace(/\{\{[^{}]*\}\}/g, 'x')
    .replace(/^https:\/\/[^/]*/, '')
    .split('?')[0]!;
  expect(parsed.origin).toBe(/^https:\/\/[^/]*/.exec(template.url)![0]);
  expect(parsed.username + parsed.password + parsed.hash).toBe('');
  expect(parsed.pathname.split('/')).toHaveLength(path.split('/').length);
  for (const segment of parsed.pathname.split('/'))
    for (const piece of decoded(segment).split(/[/\\]/)) expect(piece).not.toMatch(/^\.{1,2}$/);
  expect(request.method).toBe(template.method);
};

const hasOnlyTheNamesOfTheTemplate: Check = (request, template) => {
  const namesInUrl = [...template.url.matchAll(/[?&](q\d)=/g)].map(([, name]) => name!);
  for (const name of new URL(request.url).searchParams.keys())
    expect([...namesInUrl, ...Object.keys(template.query ?? {})]).toContain(name);
  const headers = Object.keys(template.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of Object.keys(request.headers))
    expect([...headers, 'content-type']).toContain(name);
};

const hasHeadersThatHttpCanCarry: Check = (request) => {
  for (const value of Object.values(request.headers))
    expect(value).not.toMatch(/[\p{Cc}\u0100-\uffff]/u);
  expect(() => new Headers(request.headers)).not.toThrow();
};

const hasTheBodyOfTheTemplate: Check = (request, template) => {
  if (request.body === undefined)
    expect(template.body === undefined || SOLE_PLACEHOLDER.test(String(template.body))).toBe(true);
  else expectShape(template.body!, JSON.parse(request.body) as Json);
};

const holdsSecretsInHeadersOnly: Check = (request, template) => {
  expect(`${request.method} ${request.url} ${request.body}`).not.toContain(SECRET);
  for (const [name, value] of Object.entries(template.headers ?? {})) {
    const sent = request.headers[name.toLowerCase()] ?? '';
    expect(sent.includes(SECRET)).toBe(value.includes('{{secrets.KEY}}'));
  }
};

it('a rendered request matches the template in each part, whatever the arguments', () => {
  let renderedCount = 0; // a property that refuses everything proves nothing
  fc.assert(
    fc.property(unparsedTemplate, args, (unparsed, given) => {
      const result = rendered(unparsed, given);
      if (result === null) return;
      renderedCount += 1;
      const { request, template } = result;
      goesWhereTheTemplateSays(request, template);
      hasOnlyTheNamesOfTheTemplate(request, template);
      hasHeadersThatHttpCanCarry(request, template);
      hasTheBodyOfTheTemplate(request, template);
      holdsSecretsInHeadersOnly(request, template);
    }),
    { numRuns: 3000 },
  );
  expect(renderedCount).toBeGreaterThan(300);
});
