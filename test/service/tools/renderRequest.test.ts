import { describe, expect, it } from '@jest/globals';
import type { Json, JsonObject } from '../../../service/src/platform/json.ts';
import {
  renderRequest,
  RequestRenderError,
} from '../../../service/src/tools/definition/renderRequest.ts';
import { parseRequestTemplate } from '../../../service/src/tools/definition/requestTemplate.ts';
import { cpuMsOf } from '../../helpers/cpuTime.ts';

const SECRET = 'sk-4711-geheim';
const ANY = { properties: { a: {}, b: {}, o: { type: 'object' } } };

/** Saves a template and fills it. */
function render(
  change: object,
  args: JsonObject = {},
  secrets: Record<string, string> = { KEY: SECRET },
) {
  const template = parseRequestTemplate(
    { method: 'POST', url: 'https://api.example.com/x', ...change },
    { parameters: ANY, secretNames: ['KEY'] },
  );
  return renderRequest(template, {
    arguments: args,
    conversationId: 'conv_1',
    callId: 'call_1',
    secrets,
  });
}
const path = (a: Json, url = 'https://api.example.com/v1/{{args.a}}/end') =>
  render({ url }, { a }).url.replace('https://api.example.com', '');
const query = (change: object, args: JsonObject) => new URL(render(change, args).url).search;
const body = (tree: Json, args: JsonObject) => {
  const { body: text } = render({ body: tree }, args);
  return text === undefined ? undefined : (JSON.parse(text) as Json);
};

describe('the address of a rendered request', () => {
  it.each([
    ['plain', '/v1/plain/end'],
    ['a/b', '/v1/a%2Fb/end'],
    ['a b?c=d&e#f', '/v1/a%20b%3Fc%3Dd%26e%23f/end'],
    ['@evil.com:80', '/v1/%40evil.com%3A80/end'],
    ['\\\\evil.com', '/v1/%5C%5Cevil.com/end'],
    ['é%20', '/v1/%C3%A9%2520/end'],
    ['line\nbreak', '/v1/line%0Abreak/end'],
    ['{{args.b}}', '/v1/%7B%7Bargs.b%7D%7D/end'],
    ['...', '/v1/.../end'],
    ['1.5', '/v1/1.5/end'],
    [1.5, '/v1/1.5/end'],
    [true, '/v1/true/end'],
  ])('encodes %j as one segment', (value, expected) => {
    expect(path(value)).toBe(expected);
  });

  it.each([
    '.',
    '..',
    '%2e',
    '%2E%2e',
    '.%2e',
    '%252e%252e',
    '%25252e.',
    '../x',
    'x/../y',
    'x\\..\\y',
    'x/%2e%2e',
    '..%2fetc',
    '%c0%ae%c0%ae',
    '%u002e.',
    '..;x=1',
    '．．',
    '‥',
    '..\0',
    ' .. ',
    '%2e%2e%00',
    `%${'25'.repeat(30_000)}2e`,
  ])('refuses %.40j, which leads elsewhere', (value) => {
    expect(() => path(value)).toThrow(/leads elsewhere/);
  });

  it.each([
    ['https://h.example/{{args.a}}{{args.b}}', { a: '.', b: '.' }],
    ['https://h.example/.{{args.a}}', { a: '.' }],
    ['https://h.example/%2e{{args.a}}', { a: '%2e' }],
    ['https://h.example/{{args.a}};v=1', { a: '..' }],
    ['https://h.example/%25{{args.a}}', { a: '2e' }],
  ])('refuses a dot segment that %s and %j make together', (url, args) => {
    expect(() => render({ url }, args)).toThrow(/leads elsewhere/);
  });

  it.each(['', null, undefined])('refuses %j where a segment needs a value', (value) => {
    expect(() =>
      render({ url: 'https://h.example/{{args.a}}' }, value === undefined ? {} : { a: value }),
    ).toThrow(/has no value/);
  });

  it.each([[{ x: 1 }], [['x']], [[]]])('refuses %j in a path', (value) => {
    expect(() => path(value)).toThrow(/list or an object/);
  });

  it('refuses half a surrogate pair, wherever text is encoded', () => {
    for (const change of [
      { url: 'https://h.example/{{args.a}}' },
      { url: 'https://h.example/?q={{args.a}}' },
      { query: { q: '{{args.a}}' } },
      { headers: { 'X-A': '{{args.a}}' } },
    ]) {
      expect(() => render(change, { a: 'x\ud800' })).toThrow(
        new RequestRenderError('{{args.a}} is not valid Unicode text.'),
      );
    }
  });

  it('carries query values, lists as repeated names, and leaves out absent values', () => {
    const own = 'https://h.example/?a={{args.a}}&b={{args.b}}&fix=1&flag';
    expect(query({ url: own }, { a: 'x&y=z', b: [1, null, 'z'] })).toBe(
      '?a=x%26y%3Dz&b=1&b=z&fix=1&flag',
    );
    expect(query({ url: own }, { a: null })).toBe('?fix=1&flag');
    expect(
      query({ query: { q: '{{args.a}}', n: 'p-{{args.b}}', f: '1' } }, { a: ['x y', '&'] }),
    ).toBe('?q=x+y&q=%26&n=p-&f=1');
    expect(
      query(
        { url: 'https://h.example/?x=1', query: { q: '{{args.a}}', r: '{{args.b}}' } },
        { b: [] },
      ),
    ).toBe('?x=1');
    expect(query({ query: { q: '{{args.a}}' } }, { a: '' })).toBe('?q=');
  });

  it.each([{ x: 1 }, [{ x: 1 }], [['x']]])('refuses %j in a query', (a) => {
    expect(() => query({ query: { q: '{{args.a}}' } }, { a })).toThrow(/list or an object/);
    expect(() => query({ url: 'https://h.example/?q={{args.a}}' }, { a })).toThrow(
      /list or an object/,
    );
  });

  it('fills in the ids of the conversation and the call', () => {
    expect(
      render({
        url: 'https://h.example/{{conversation.id}}',
        headers: { 'Idempotency-Key': '{{call.id}}' },
      }),
    ).toMatchObject({ url: 'https://h.example/conv_1', headers: { 'idempotency-key': 'call_1' } });
  });

  it('keeps origin and path of an address without placeholders', () => {
    expect(render({ url: 'https://H.example:8443' }).url).toBe('https://h.example:8443/');
    expect(render({ url: 'https://h.example/a//b/' }).url).toBe('https://h.example/a//b/');
  });

  it('refuses an address of more than 16 KiB', () => {
    expect(() => path('x'.repeat(20_000))).toThrow(/16 KiB/);
  });
});

describe('the headers of a rendered request', () => {
  it('carries secrets and arguments, and leaves out a header whose one argument is absent', () => {
    const headers = {
      Authorization: 'Bearer {{secrets.KEY}}',
      'X-A': '{{args.a}}',
      'X-B': 'b={{args.b}}',
      'X-N': '{{args.b}}',
    };
    expect(render({ headers }, { a: 5, b: null }).headers).toEqual({
      authorization: `Bearer ${SECRET}`,
      'x-a': '5',
      'x-b': 'b=',
    });
  });

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'a\tb', '\x7f', '\x85', 'Łódź', '\u2028', '😀'])(
    'refuses %j from an argument',
    (a) => {
      expect(() => render({ headers: { 'X-A': 'v {{args.a}}' } }, { a })).toThrow(
        /header X-A .* cannot carry/,
      );
    },
  );

  it.each([[['x']], [{ x: 1 }]])('refuses %j in a header', (a) => {
    expect(() => render({ headers: { 'X-A': '{{args.a}}' } }, { a })).toThrow(/list or an object/);
  });

  it('never says what a secret is', () => {
    const headers = { 'X-Key': '{{secrets.KEY}}' };
    const message = (secrets: Record<string, string>) => {
      try {
        return JSON.stringify(render({ headers }, {}, secrets));
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(message({ KEY: `${SECRET}\n${SECRET}` })).toMatch(/header X-Key .* cannot carry/);
    expect(message({ KEY: `${SECRET}\n${SECRET}` })).not.toContain(SECRET);
    expect(message({ KEY: SECRET.repeat(1000) })).toMatch(/^The header X-Key would be longer/);
    expect(message({})).toBe('There is no secret KEY any more; store it again or change the tool.');
  });

  it('takes secrets from own properties only', () => {
    const template = {
      method: 'GET',
      url: 'https://h.example/',
      headers: { 'X-K': '{{secrets.constructor}}' },
    };
    expect(() =>
      renderRequest(template, { arguments: {}, conversationId: 'c', callId: 'k', secrets: {} }),
    ).toThrow(/no secret constructor/);
  });

  it('adds the content type of JSON when there is a body and none is set', () => {
    expect(render({ body: { a: 1 } }).headers).toEqual({ 'content-type': 'application/json' });
    expect(
      render({ body: {}, headers: { 'Content-Type': 'application/vnd.api+json' } }).headers,
    ).toEqual({ 'content-type': 'application/vnd.api+json' });
    expect(render({}).headers).toEqual({});
  });
});

describe('the body of a rendered request', () => {
  it.each<[string, Json, JsonObject, Json | undefined]>([
    [
      'keeps the type of a sole placeholder',
      { a: '{{args.a}}', b: '{{ args.b }}' },
      { a: 5, b: [1, { c: null }] },
      { a: 5, b: [1, { c: null }] },
    ],
    ['keeps null that was given', { a: '{{args.a}}' }, { a: null }, { a: null }],
    ['leaves out a key whose argument is absent', { a: '{{args.a}}', k: 1 }, {}, { k: 1 }],
    ['writes null in a list for what is absent', ['{{args.a}}', 1], {}, [null, 1]],
    ['fills texts', 'Order {{args.a}}{{args.b}}!', { a: 7 }, 'Order 7!'],
    [
      'writes lists and objects inside a text as JSON',
      'x {{args.a}}',
      { a: { y: ['"'] } },
      'x {"y":["\\""]}',
    ],
    ['fills in the ids', ['{{conversation.id}}', '{{call.id}}'], {}, ['conv_1', 'call_1']],
    [
      'follows nested names',
      ['{{args.o.x.y}}', '{{args.o.x.z}}'],
      { o: { x: { y: 1 } } },
      [1, null],
    ],
    [
      'does not fill what was filled in',
      { a: '{{args.a}}' },
      { a: '{{secrets.KEY}}' },
      { a: '{{secrets.KEY}}' },
    ],
    [
      'leaves plain values alone',
      { n: 1.5, t: true, f: false, z: null, e: '', l: [], o: {} },
      {},
      { n: 1.5, t: true, f: false, z: null, e: '', l: [], o: {} },
    ],
    ['is absent when its one argument is', '{{args.a}}', {}, undefined],
    [
      'finds nothing that is inherited',
      ['{{args.o.constructor}}', '{{args.o.__proto__}}', '{{args.o.x.length}}'],
      { o: { x: [] } },
      [null, null, null],
    ],
  ])('%s', (_what, tree, args, expected) => {
    expect(body(tree, args)).toEqual(expected);
  });

  it('treats __proto__ and constructor as plain names', () => {
    const args = JSON.parse('{"a":{"__proto__":{"x":1},"constructor":2}}') as JsonObject;
    const sent = render(
      {
        body: JSON.parse(
          '{"__proto__":"{{args.a}}","constructor":"{{args.a.constructor}}"}',
        ) as Json,
      },
      args,
    ).body;
    expect(sent).toBe('{"__proto__":{"__proto__":{"x":1},"constructor":2},"constructor":2}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('is a form when the template says so', () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const form = { a: '{{args.a}}', t: 'x {{args.b}}&', n: 5, gone: '{{args.o.x}}', none: null };
    expect(render({ headers, body: form }, { a: ['1', 2, null], b: 'é' })).toMatchObject({
      headers: { 'content-type': headers['Content-Type'] },
      body: 'a=1&a=2&t=x+%C3%A9%26&n=5',
    });
    expect(() => render({ headers, body: form }, { a: { x: 1 } })).toThrow(/field a of the form/);
    expect(() => render({ headers, body: form }, { a: [[1]] })).toThrow(/field a of the form/);
  });

  it('bounds how often a template may repeat a long argument', () => {
    const fields = Array.from({ length: 2000 }, () => '{{args.a}}');
    const list = Array.from({ length: 20_000 }, () => 1);
    const cpuMs = cpuMsOf(() => {
      expect(() => render({ body: fields }, { a: 'x'.repeat(60_000) })).toThrow(
        /larger than 256 KiB/,
      );
      expect(() => render({ body: '{{args.a}}'.repeat(2000) }, { a: list })).toThrow(
        /larger than 256 KiB/,
      );
    });
    expect(cpuMs).toBeLessThan(5000);
  });

  it('counts an argument once that is the whole of a header', () => {
    const names = Array.from({ length: 20 }, (_, n) => `x-${n}`);
    const headers = Object.fromEntries(names.map((name) => [name, '{{args.a}}']));
    const rendered = render({ headers }, { a: 'x'.repeat(7000) });
    expect(Object.keys(rendered.headers)).toEqual(expect.arrayContaining(names));
  });

  it('refuses arguments that are too large or too deep', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as Json;
    expect(() => render({ body: '{{args.a}}' }, { a: deep })).toThrow(RequestRenderError);
    expect(() => render({ body: '{{args.a}}' }, { a: 'x'.repeat(70_000) })).toThrow(
      RequestRenderError,
    );
  });
});
