import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  body,
  jsonOf,
  redirect,
  startToolEndpoint,
  type Answer,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { endpoint, service, useToolService } from './toolService.ts';

const MEBIBYTE = 1024 * 1024;
const SIGNATURE_HEADERS = [
  'x-service-signature',
  'x-service-event',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are sent and looked at field by field
type Json = any;

describe('a call of an HTTP tool', () => {
  useToolService();
  let other: ToolEndpoint;
  let count = 0;

  beforeAll(async () => {
    other = await startToolEndpoint();
  });
  afterEach(() => {
    endpoint.forget();
    other.forget();
  });
  afterAll(() => other?.close());

  /** Makes a tool with this template and tests it once. It calls `/api` unless the template says otherwise. */
  const call = async (
    template: Json,
    answers: Answer[],
    { args = {}, secrets = {}, parameters = { type: 'object' } as Json, timeout = 10 } = {},
  ): Promise<Json> => {
    const { body: tool } = await service.api.post('/api/tools', {
      name: `tool_${++count}`,
      description: 'Calls an API.',
      kind: 'HTTP',
      parameters,
      secrets,
      timeout,
      request_template: { method: 'GET', url: `${endpoint.url}/api`, ...template },
    });
    expect(tool.id).toEqual(expect.any(String));
    endpoint.answer('/api', ...answers);
    const { body: record } = await service.api.post(`/api/tools/${tool.id}/test`, {
      arguments: args,
    });
    return record;
  };
  const succeeded = { status: 'succeeded' };
  const failedOnce = (type: string) => ({ status: 'failed', attempts: 1, error: { type } });

  it("sends a request in the API's own shape, without a signature", async () => {
    const parameters = {
      type: 'object',
      properties: { q: { type: 'string' }, n: { type: 'integer' } },
    };
    const record = await call(
      {
        method: 'PUT',
        url: `${endpoint.url}/api`,
        query: { q: '{{args.q}}', in: '{{conversation.id}}' },
        headers: {
          Authorization: 'Bearer {{secrets.TOKEN}}',
          'User-Agent': 'shop',
          'Idempotency-Key': '{{call.id}}',
        },
        body: { n: '{{args.n}}', list: ['{{args.q}}'] },
      },
      [{ json: { ok: 1 } }],
      { args: { q: 'a&b=c', n: 7 }, secrets: { TOKEN: 'a-token-value' }, parameters },
    );
    expect(record).toMatchObject({ status: 'succeeded', result: { ok: 1 } });
    const [request] = endpoint.requests;
    expect([request!.method, request!.path]).toEqual(['PUT', '/api?q=a%26b%3Dc&in=conv_test']);
    expect(JSON.parse(request!.rawBody.toString())).toEqual({ n: 7, list: ['a&b=c'] });
    expect(request!.headers).toMatchObject({
      authorization: 'Bearer a-token-value',
      'user-agent': 'shop',
      'idempotency-key': record.tool_call_id,
      'content-type': 'application/json',
    });
    for (const name of SIGNATURE_HEADERS) expect(request!.headers).not.toHaveProperty(name);
  });

  it('reads JSON without a content type, text, and an empty body, but no broken JSON', async () => {
    const text = { 'content-type': 'text/plain' };
    for (const [answer, read] of [
      [body('{"a":1}', {}), { result: { a: 1 } }],
      [body('hello', text), { result: 'hello' }],
      [body('', {}, 204), { result: null, http_status: 204 }],
    ] as const)
      expect(await call({}, [answer])).toMatchObject({ ...succeeded, ...read });
    expect(await call({}, [body('{"a":1')])).toMatchObject(failedOnce('invalid_response'));
  });

  it('keeps only the response_fields of the answer', async () => {
    expect(
      await call({ response_fields: ['items.name'] }, [
        { json: { items: [{ name: 'a', cost: 1 }], more: 2 } },
      ]),
    ).toMatchObject({ result: { items: [{ name: 'a' }] } });
    expect(
      await call({ response_fields: ['items.name'] }, [
        body('text', { 'content-type': 'text/plain' }),
      ]),
    ).toMatchObject({ status: 'failed', error: { type: 'invalid_response' } });
  });

  it('reads 5 MiB, and refuses more without another attempt', async () => {
    expect(
      await call({ response_fields: ['a'] }, [body(`{"a":1,"b":${jsonOf(5 * MEBIBYTE - 12)}}`)], {
        timeout: 30,
      }),
    ).toMatchObject({ status: 'succeeded', result: { a: 1 } });
    const tooLarge = body(jsonOf(5 * MEBIBYTE + 1));
    expect(await call({}, [tooLarge], { timeout: 30 })).toMatchObject(failedOnce('too_large'));
    expect(endpoint.requests).toHaveLength(2);
  });

  it('follows five redirects, but not a sixth', async () => {
    const redirects =
      (hops: number): Answer =>
      (request, response) => {
        const n = Number(/n=(\d+)/.exec(request.path)?.[1] ?? 0);
        if (n < hops) response.writeHead(302, { location: `/api?n=${n + 1}` }).end();
        else response.writeHead(200, { 'content-type': 'application/json' }).end('{"there":true}');
      };
    expect(await call({}, Array<Answer>(6).fill(redirects(5)))).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      result: { there: true },
    });
    expect(endpoint.requests).toHaveLength(6);
    endpoint.forget();
    expect(await call({}, Array<Answer>(7).fill(redirects(6)))).toMatchObject(
      failedOnce('redirect'),
    );
    expect(endpoint.requests).toHaveLength(6);
  });

  it('stops at the sixth redirect of a circle', async () => {
    expect(await call({}, Array<Answer>(10).fill(redirect('/api', 301)))).toMatchObject(
      failedOnce('redirect'),
    );
    expect(endpoint.requests).toHaveLength(6);
  });

  const secrets = { TOKEN: 'a-token-value' };

  it('keeps its headers in a redirect on its own origin, and sends none of them to another', async () => {
    const template = {
      headers: {
        authorization: 'Bearer {{secrets.TOKEN}}',
        'x-api-key': '{{secrets.TOKEN}}',
        cookie: 'a=b',
        'x-plain': 'plain',
      },
    };
    expect(await call(template, [redirect('/next')], { secrets })).toMatchObject(succeeded);
    expect(endpoint.requests[1]!.headers).toMatchObject({
      authorization: 'Bearer a-token-value',
      'x-plain': 'plain',
    });
    expect(await call(template, [redirect(`${other.url}/there`)], { secrets })).toMatchObject(
      succeeded,
    );
    expect(other.requests).toHaveLength(1);
    for (const name of ['authorization', 'x-api-key', 'cookie', 'x-plain'])
      expect(other.requests[0]!.headers).not.toHaveProperty(name);
    expect(JSON.stringify(other.requests[0])).not.toContain('a-token-value');
  });

  it('does not send its headers again when another origin redirects back', async () => {
    other.answer('/there', redirect(`${endpoint.url}/home`));
    const record = await call(
      { headers: { authorization: 'Bearer {{secrets.TOKEN}}' } },
      [redirect(`${other.url}/there`)],
      { secrets },
    );
    expect(record).toMatchObject(succeeded);
    expect(endpoint.at('/home')[0]!.headers).not.toHaveProperty('authorization');
  });

  it('sends a secret to no other origin, whichever header holds it', async () => {
    const record = await call(
      { headers: { accept: '{{secrets.TOKEN}}', 'accept-language': 'x-{{secrets.TOKEN}}' } },
      [redirect(`${other.url}/there`)],
      { secrets },
    );
    expect(record).toMatchObject(succeeded);
    expect(JSON.stringify(other.requests.map(({ headers }) => headers))).not.toContain(
      'a-token-value',
    );
  });

  const post = { method: 'POST', body: { a: 1 } };

  it.each([301, 302, 303])('goes on with GET and without the body after a %i', async (status) => {
    expect(await call(post, [redirect('/next', status)])).toMatchObject(succeeded);
    const { method, rawBody, headers } = endpoint.requests[1]!;
    expect([method, rawBody.toString(), headers['content-type']]).toEqual(['GET', '', undefined]);
  });

  it.each([307, 308])(
    'keeps method and body after a %i on its own origin, and fails on another',
    async (status) => {
      expect(await call(post, [redirect('/next', status)])).toMatchObject(succeeded);
      const { method, rawBody } = endpoint.requests[1]!;
      expect([method, rawBody.toString()]).toEqual(['POST', '{"a":1}']);
      const away = redirect(`${other.url}/there`, status);
      for (const template of [post, { method: 'DELETE' }])
        expect(await call(template, [away])).toMatchObject(failedOnce('redirect'));
      expect(other.requests).toHaveLength(0);
      expect(await call({}, [away])).toMatchObject(succeeded);
      expect(other.requests).toHaveLength(1);
    },
  );

  it.each([
    ['300', 300],
    ['304', 304],
    ['a 302 without a location', 302],
  ])('treats %s as a failure', async (_what, status) => {
    expect(await call({}, [body('', {}, status)])).toMatchObject({
      ...failedOnce('http_status'),
      http_status: status,
    });
  });

  it('has one time-out for all redirects together', async () => {
    const slow: Answer = (_request, response) =>
      void setTimeout(() => response.writeHead(302, { location: '/api' }).end(), 400);
    const record = await call({}, Array<Answer>(20).fill(slow), { timeout: 1 });
    // If each redirect had its own time-out, the sixth would end the call after one attempt.
    expect(record).toMatchObject({ status: 'failed', attempts: 3, error: { type: 'timeout' } });
    // An attempt of 1 s has time for three requests of 400 ms.
    expect(endpoint.requests.length).toBeLessThanOrEqual(9);
  });

  it('sends no request whose path leads elsewhere', async () => {
    const record = await call({ url: `${endpoint.url}/api/{{args.q}}` }, [], {
      args: { q: '..' },
      parameters: { type: 'object', properties: { q: { type: 'string' } } },
    });
    expect(record).toMatchObject({ status: 'failed', error: { type: 'invalid_arguments' } });
    expect(endpoint.requests).toHaveLength(0);
  });
});
