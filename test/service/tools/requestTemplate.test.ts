import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../service/src/platform/json.ts';
import {
  parseRequestTemplate,
  RequestTemplateError,
  type RequestTemplate,
} from '../../../service/src/tools/definition/requestTemplate.ts';
import { cpuMsOf } from '../../helpers/cpuTime.ts';

const parameters: JsonObject = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    address: {
      type: 'object',
      properties: { city: { type: 'string' }, geo: { $ref: '#/$defs/geo' } },
    },
    free: { type: 'object' },
    anything: {},
    never: false,
    choice: { oneOf: [{ properties: { left: {} } }, { properties: { right: {} } }] },
  },
  $defs: { geo: { properties: { lat: { type: 'number' } } } },
};
const known = { parameters, secretNames: ['API_KEY'] };

const template = (change: object = {}) => ({
  method: 'POST',
  url: 'https://api.example.com/orders',
  ...change,
});
const parse = (change: object = {}): RequestTemplate =>
  parseRequestTemplate(template(change), known);

/** @returns why a template is refused and where, or null when it is not */
function refusal(value: unknown): { param: string; message: string } | null {
  try {
    parseRequestTemplate(value, known);
    return null;
  } catch (error) {
    if (!(error instanceof RequestTemplateError)) throw error;
    return { param: error.param, message: error.message };
  }
}
const refused = (change: object) => refusal(template(change));
const because = (param: string, reason: string) => ({
  param: `request_template.${param}`,
  message: expect.stringContaining(reason),
});

describe('a request template when a tool is saved', () => {
  it('is stored as it came, but with the method in capitals, and always with query and headers', () => {
    const body = {
      id: '{{args.id}}',
      nested: [{ city: '{{ args.address.city }}' }],
      n: 1,
      flag: true,
      none: null,
    };
    const url = 'https://api.example.com/orders/{{args.id}}?q={{args.id}}';
    expect(
      parse({
        method: 'patch',
        url,
        body,
        headers: { 'X-Key': 'Bearer {{ secrets.API_KEY }}' },
        response_fields: ['items.name'],
      }),
    ).toEqual({
      method: 'PATCH',
      url,
      query: {},
      headers: { 'X-Key': 'Bearer {{ secrets.API_KEY }}' },
      body,
      response_fields: ['items.name'],
    });
  });

  it('reads null, and an empty list of response fields, as absent', () => {
    expect(
      parse({ method: 'GET', query: null, headers: null, body: null, response_fields: null }),
    ).toEqual({ method: 'GET', url: 'https://api.example.com/orders', query: {}, headers: {} });
    expect(parse({ response_fields: [] })).not.toHaveProperty('response_fields');
  });

  it.each([
    '{{args.id}}',
    '{{ args.id }}',
    '{{\targs.address.city\n}}',
    '{{args.address.geo.lat}}',
    '{{args.free.any.thing}}',
    '{{args.anything.x}}',
    '{{args.choice.right}}',
    '{{conversation.id}}',
    '{{call.id}}',
    'a {{args.id}}{{args.id}} }} b',
  ])('accepts the placeholders in %j', (text) => {
    expect(refused({ body: { text }, query: { text }, headers: { text } })).toBeNull();
  });

  it.each([
    ['{{args.name}}', 'no such property'],
    ['{{args.address.street}}', 'no such property'],
    ['{{args.address.geo.lng}}', 'no such property'],
    ['{{args.id.x}}', 'no such property'],
    ['{{args.tags.0}}', 'no such property'],
    ['{{args.never}}', 'no such property'],
    ['{{args.choice.middle}}', 'no such property'],
    ['{{args.constructor}}', 'no such property'],
    ['{{args.__proto__}}', 'no such property'],
    ['{{args}}', 'is not a placeholder'],
    ['{{args.}}', 'is not a placeholder'],
    ['{{}}', 'is not a placeholder'],
    ['{{conversation.name}}', 'is not a placeholder'],
    ['{{call.id.x}}', 'is not a placeholder'],
    ['{{ARGS.id}}', 'is not a placeholder'],
    ['{{{args.id}}}', 'is not a placeholder'],
    ['{{args.id', 'never closes it'],
    ['{{args.id} }', 'never closes it'],
    ['{{secrets.API_KEY}}', 'headers only'],
  ])('refuses %j in a body, a query and an address', (text, reason) => {
    expect(refused({ body: { a: [text] } })).toEqual(because('body.a.0', reason));
    expect(refused({ query: { q: text } })).toEqual(because('query.q', reason));
    expect(refused({ url: `https://api.example.com/${text}` })).toEqual(because('url', reason));
  });

  it('quotes no half of an emoji', () => {
    const text = `{{${'a'.repeat(59)}😀}}`;
    expect(refused({ body: { a: text } })!.message.isWellFormed()).toBe(true);
  });

  it('refuses a secret that is not stored', () => {
    expect(refused({ headers: { Authorization: 'Bearer {{secrets.OTHER}}' } })).toEqual(
      because('headers.Authorization', 'no secret of that name'),
    );
  });

  it.each([
    ['https://{{args.id}}/x', 'path and query only'],
    ['{{args.id}}', 'path and query only'],
    ['{{args.id}}://example.com/', 'path and query only'],
    ['https://api.{{args.id}}.com/', 'path and query only'],
    ['https://api.example.com{{args.id}}', 'path and query only'],
    ['https://api.example.com:{{args.id}}/', 'path and query only'],
    ['https://{{args.id}}@example.com/', 'path and query only'],
    ['https://user:secret@example.com/', 'user name or password'],
    ['https://user@example.com/{{args.id}}', 'user name or password'],
    ['ftp://example.com/', 'absolute address'],
    ['/orders', 'absolute address'],
    ['https:example.com', 'absolute address'],
    ['https:///orders', 'absolute address'],
    ['https://exa mple.com/', 'spaces'],
    ['https://[::1/', 'not a valid address'],
    ['https://example.com:99999/', 'not a valid address'],
    ['https://example.com/a b', 'spaces'],
    ['https://example.com/a\nb', 'spaces'],
    ['https://example.com\\{{args.id}}/', 'backslashes'],
    ['https://example.com/a\\..\\b', 'spaces, line breaks or backslashes'],
    ['https://example.com/a#b', '# part'],
    ['https://example.com/%{{args.id}}', 'hexadecimal'],
    ['https://example.com/%2{{args.id}}', 'hexadecimal'],
    ['https://example.com/a/../b', '. or ..'],
    ['https://example.com/a/%2E%2e', '. or ..'],
    ['https://example.com/./{{args.id}}', '. or ..'],
    ['https://example.com/?{{args.id}}=1', 'name of a query parameter'],
    ['https://example.com/?a{{args.id}}=1', 'name of a query parameter'],
    ['https://example.com/?a=1&{{args.id}}', 'name of a query parameter'],
    [`https://example.com/${'a'.repeat(5000)}`, 'at most'],
    ['https://example.com/\ud800', 'Unicode'],
    [5, 'must be the address'],
  ])('refuses the address %j', (url, reason) => {
    expect(refused({ url })).toEqual(because('url', reason));
  });

  it.each([
    'https://example.com',
    'https://example.com/',
    'https://example.com?a={{args.id}}',
    'http://127.0.0.1:8080/x',
    'https://[::1]:8080/{{args.id}}',
    'HTTPS://Example.com/a//b/',
    'https://example.com/a-{{args.id}}.json',
    'https://example.com/?a=1&a=2&flag&=x&x=?y',
  ])('takes the address %j', (url) => {
    expect(refused({ url })).toBeNull();
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'CONNECTION',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Proxy-Authorization',
    'Accept-Encoding',
  ])('refuses the header %s', (name) => {
    expect(refused({ headers: { [name]: 'x' } })).toEqual(
      because(`headers.${name}`, 'cannot be set'),
    );
  });

  it.each([
    [{ 'X Key': 'x' }, 'not a valid header name'],
    [{ 'X-Key\r\n': 'x' }, 'not a valid header name'],
    [{ Schlüssel: 'x' }, 'not a valid header name'],
    [{ '': 'x' }, '1 to 256'],
    [{ 'X-{{args.id}}': 'x' }, 'in its name'],
    [{ 'X-Key': 'a', 'x-key': 'b' }, 'twice'],
    [{ 'X-Key': 'a\r\nX-Other: b' }, 'cannot carry'],
    [{ 'X-Key': 'a\0' }, 'cannot carry'],
    [{ 'X-Key': 'Łódź' }, 'cannot carry'],
    [{ 'X-Key': 5 }, 'must be a string'],
    [{ 'Content-Type': '{{args.id}}' }, 'fixed content type'],
    [{ 'Content-Type': '' }, 'fixed content type'],
    [{ Authorization: 'Bearer abc' }, 'put the key into secrets and write {{secrets.NAME}}'],
    [{ 'X-API-Key': 'abc' }, 'put the key into secrets'],
    [{ 'PRIVATE-TOKEN': 'abc' }, 'put the key into secrets'],
    [{ 'Ocp-Apim-Subscription-Key': 'abc' }, 'put the key into secrets'],
    [['X-Key'], 'object of names and texts'],
    [
      Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, 'x'])),
      'at most 50',
    ],
  ])('refuses the headers %j', (headers, reason) => {
    expect(refused({ headers })?.message).toContain(reason);
  });

  it.each([
    { Authorization: 'Bearer {{secrets.API_KEY}}' },
    { 'x-api-key': '{{args.id}}' },
    { Authorization: '' },
    { 'X-Api-Key': ' ' },
    { 'X-Atlassian-Token': 'no-check' },
    { 'X-CSRF-Token': 'Fetch' },
    { 'Idempotency-Key': '{{call.id}}-1' },
    { 'X-Client-Id': '42' },
    { Cookie: 'lang=en' },
    { 'X-Key': 'a' },
  ])('takes the headers %j', (headers) => {
    expect(refused({ headers })).toBeNull();
  });

  it.each([
    [{ method: 'TRACE' }, 'method', 'one of'],
    [{ method: 5 }, 'method', 'one of'],
    [{ method: undefined }, 'method', 'one of'],
    [{ method: 'GET', body: {} }, 'body', 'with GET'],
    [{ body: { '{{args.id}}': 1 } }, 'body.{{args.id}}', 'in its name'],
    [{ query: { '{{args.id}}': '1' } }, 'query.{{args.id}}', 'in its name'],
    [{ query: { limit: 10 } }, 'query.limit', '"10"'],
    [{ query: { q: '\udc00' } }, 'query.q', 'Unicode'],
    [{ retries: 3 }, 'retries', 'is not known'],
    [JSON.parse('{"__proto__":{"x":1}}') as object, '__proto__', 'is not known'],
    [{ response_fields: 'name' }, 'response_fields', 'list of paths'],
    [{ response_fields: ['a', 'a..b'] }, 'response_fields.1', 'path of names'],
    [{ response_fields: [5] }, 'response_fields.0', 'path of names'],
    [{ response_fields: Array.from({ length: 101 }, () => 'a') }, 'response_fields', 'at most 100'],
    [
      {
        headers: { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=utf-8' },
        body: { a: { b: 1 } },
      },
      'body',
      'flat object',
    ],
    [
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '{{args.free}}' },
      'body',
      'flat object',
    ],
  ])('refuses %j', (change, param, reason) => {
    expect(refused(change)).toEqual(because(param, reason));
  });

  it.each([null, undefined, 'GET https://example.com', [], 5])(
    'refuses %j as a template',
    (value) => {
      expect(refusal(value)).toMatchObject({
        param: 'request_template',
        message: expect.stringContaining('must be an object'),
      });
    },
  );

  it('bounds size and depth', () => {
    expect(refused({ body: 'x'.repeat(33_000) })?.message).toContain('32768 bytes');
    let deep: unknown = 'x';
    for (let level = 0; level < 40; level += 1) deep = [deep];
    expect(refused({ body: deep })?.message).toContain('32 levels');
  });

  it('reads placeholders against a schema that refers to itself, or that is invalid', () => {
    const loop = {
      properties: { id: { $ref: '#/properties/id' }, all: { allOf: [{ $ref: '#' }] } },
    };
    const read = (body: string, parameters: JsonObject = loop) =>
      parseRequestTemplate(template({ body }), { parameters, secretNames: [] });
    expect(read('{{args.id}}').method).toBe('POST');
    expect(read('{{args.all.all.id}}').method).toBe('POST');
    expect(() => read('{{args.all.other}}')).toThrow(RequestTemplateError);
    expect(() => read('{{args.x}}', { properties: 5 })).toThrow(RequestTemplateError);
  });

  it('reads many placeholders and many properties quickly', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`p${index}`, { type: 'string' }]),
    );
    const many = template({ body: '{{args.p999}}'.repeat(2400) });
    expect(
      cpuMsOf(() => parseRequestTemplate(many, { parameters: { properties }, secretNames: [] })),
    ).toBeLessThan(5000);
  });
});
