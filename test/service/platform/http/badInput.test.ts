import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { MAX_REPLY_CHARACTERS } from '../../../../service/src/conversations/message.ts';

const refusal = (status: number, error: { code?: string; param?: string }) => ({
  status,
  body: { error },
});
const TOO_LONG = JSON.stringify({ text: 'x'.repeat(MAX_REPLY_CHARACTERS + 1) });

describe('bad input gets a clear error, and nothing is stored', () => {
  let service: TestService;
  let path: string;
  beforeAll(async () => {
    service = await startTestService();
    const { conversation_id } = await (await chatCustomer(service.url)).write('hello');
    path = `/api/conversations/${conversation_id}`;
  });
  afterAll(() => service?.stop());

  const untouched = async () =>
    expect((await service.api.get(path)).body).toMatchObject({
      message_count: 1,
      status: 'ai_active',
    });

  it.each([
    ['malformed JSON', '{"text":', 400, 'invalid_json'],
    ['JSON that is not an object', '"text"', 400, 'invalid_request'],
    ['an array', '[]', 400, 'invalid_request'],
    ['null', 'null', 400, 'invalid_request'],
    ['an empty object', '{}', 400, 'invalid_request'],
    ['a number for a text', '{"text":5}', 400, 'invalid_request'],
    ['an empty text', '{"text":"  "}', 400, 'invalid_request'],
    ['a text that is too long', TOO_LONG, 400, 'invalid_request'],
    ['half a surrogate pair', '{"text":"\\ud800"}', 400, 'invalid_request'],
    ['a NUL', '{"text":"a\\u0000b"}', 400, 'invalid_request'],
    ['a body over 256 KiB', JSON.stringify({ text: 'x'.repeat(300_000) }), 413, 'body_too_large'],
  ])('%s', async (_what, body, status, code) => {
    const answer = await service.api.post(`${path}/messages`, body);
    expect(answer).toMatchObject(refusal(status, { code }));
    expect(answer.body.error.message).toMatch(/\.$/);
    if (code === 'invalid_request' && body.startsWith('{"text":'))
      expect(answer.body.error.param).toBe('text');
    await untouched();
  });

  it('bytes that are not UTF-8', async () => {
    const body = Buffer.from('{"text":"caf\u00e9"}', 'latin1');
    const response = await fetch(`${service.url}${path}/messages`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_json' } });
    await untouched();
  });

  it('counts characters, not bytes or halves of pairs', async () => {
    const { conversation_id } = await (await chatCustomer(service.url)).write('x');
    const reply = async (length: number) => {
      const body = { text: '🎉'.repeat(length) };
      return (await service.api.post(`/api/conversations/${conversation_id}/messages`, body))
        .status;
    };
    expect(await reply(MAX_REPLY_CHARACTERS)).toBe(201);
    expect(await reply(MAX_REPLY_CHARACTERS + 1)).toBe(400);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'multipart/form-data',
  ])('content type %s', async (type) => {
    const answer = await service.api.call('POST', `${path}/messages`, '{"text":"x"}', {
      'content-type': type,
    });
    expect(answer).toMatchObject(refusal(415, { code: 'unsupported_media_type' }));
    await untouched();
  });

  it.each([
    [{ verdict: 'goal_reached' }, 'summary'],
    [{ summary: 's' }, 'verdict'],
    [{ summary: 's', verdict: 'won' }, 'verdict'],
    [{ summary: 'x'.repeat(4001), verdict: 'unknown' }, 'summary'],
  ])('close with %j', async (body, param) => {
    const answer = await service.api.post(`${path}/close`, body);
    expect(answer).toMatchObject(refusal(400, { code: 'invalid_request', param }));
    await untouched();
  });

  it('a field that is not a string, and a parameter that is sent twice', async () => {
    const session = await service.api.post('/api/chat/sessions', { workspace: 5 });
    const list = await service.api.get('/api/tools?cursor=a&cursor=b');
    expect([session, list].map(({ body }) => body.error.message)).toEqual([
      'workspace must be a string.',
      'cursor must be a string.',
    ]);
  });

  it('an unknown stage', async () => {
    const answer = await service.api.patch(path, { funnel_stage: 'vip' });
    expect(answer).toMatchObject(refusal(400, { param: 'funnel_stage' }));
  });

  it.each(['conv_nothing', '..%2f..%2fetc', '%00', 'x'.repeat(3000)])(
    'unknown id %s',
    async (id) => {
      for (const answer of [
        await service.api.get(`/api/conversations/${id}`),
        await service.api.post(`/api/conversations/${id}/takeover`),
      ])
        expect(answer).toMatchObject(refusal(404, { code: 'not_found' }));
    },
  );

  it('an id that cannot be decoded', async () => {
    const answer = await service.api.get('/api/conversations/%zz');
    expect(answer).toMatchObject(refusal(400, { code: 'invalid_request' }));
  });

  it.each([null, 'nonsense', `cs_live_${'x'.repeat(32)}`, `cs_live_${'T'.repeat(31)}`])(
    'key %s',
    async (key) => {
      const api = apiClient(service.url, key);
      for (const answer of [
        await api.get(path),
        await api.get('/api/hooks'),
        await api.post('/api/contacts/lookup', { email: 'a@b.co' }),
      ]) {
        expect(answer).toMatchObject(refusal(401, { code: 'unauthorized' }));
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    },
  );

  it('a method that an address does not have: 405, and Allow lists those it has', async () => {
    const answer = await service.api.call('PUT', path, {});
    expect(answer).toMatchObject(refusal(405, { code: 'method_not_allowed' }));
    expect(answer.headers.get('allow')).toBe('GET, PATCH');
  });

  it('an unknown address', async () => {
    for (const api of [service.api, apiClient(service.url, null)])
      expect(await api.get('/api/nothing')).toMatchObject(refusal(404, { code: 'not_found' }));
  });

  it.each(['takeover', 'handback'])('%s needs no body and no content type', async (operation) => {
    const response = await fetch(`${service.url}${path}/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    expect(response.status).toBe(200);
  });

  it('too many requests: 429 with Retry-After, and another visitor is not limited', async () => {
    const limited = await startTestService({
      env: { API_RATE_LIMIT_PER_MINUTE: '3', CHAT_RATE_LIMIT_PER_MINUTE: '2' },
    });
    try {
      const answers = [];
      for (let n = 0; n < 4; n++) answers.push(await limited.api.get('/api/hooks'));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      expect(Number(answers[3]!.headers.get('retry-after'))).toBeGreaterThan(0);
      const customer = await chatCustomer(limited.url);
      await customer.write('1');
      await customer.write('2');
      const third = { text: '3', client_message_id: '3' };
      const refused = await customer.api.post('/api/chat/messages', third);
      expect(refused).toMatchObject(refusal(429, { code: 'rate_limited' }));
      const other = await chatCustomer(limited.url);
      expect((await other.write('another visitor')).message_id).toMatch(/^msg_/);
    } finally {
      await limited.stop();
    }
  });
});
