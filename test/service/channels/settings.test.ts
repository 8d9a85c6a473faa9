import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { startGraphServer, TEST_NUMBER, type GraphServer } from '../../helpers/graphServer.ts';
import { apiClient, type ApiAnswer, type ApiClient } from '../../helpers/apiClient.ts';
import { respondJson } from '../../helpers/jsonServer.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are sent and looked at field by field
type Json = any;

const APP_SECRET = 'app-secret-0f3a9b7c';
const VERIFY_TOKEN = 'verify-token-of-the-team';

let service: TestService;
let graph: GraphServer;
const logged: string[] = [];

beforeAll(async () => {
  graph = await startGraphServer();
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  service = await startTestService({ log, env: { GRAPH_API_URL: graph.url } });
});
afterEach(async () => {
  const { body } = await service.api.get('/api/channels?limit=200');
  for (const { id } of body.data) await service.api.delete(`/api/channels/${id}`);
});
afterAll(async () => {
  await service?.stop();
  await graph?.close();
});

const settings = (more: Json = {}) => ({
  phone_number_id: TEST_NUMBER.id,
  access_token: graph.accessToken,
  app_secret: APP_SECRET,
  ...more,
});
const create = (more: Json = {}, fields: Json = {}) =>
  service.api.post('/api/channels', {
    type: 'whatsapp_cloud',
    name: 'Shop',
    settings: settings(more),
    ...fields,
  });
const made = async (more: Json = {}): Promise<Json> => {
  const { status, body } = await create(more);
  expect([status, body.error]).toEqual([201, undefined]);
  return body;
};
const read = async (id: string) => (await service.api.get(`/api/channels/${id}`)).body;
const list = async () => (await service.api.get('/api/channels')).body.data;
const patch = (id: string, changes: Json) => service.api.patch(`/api/channels/${id}`, changes);
const patchSettings = (id: string, changes: Json) => patch(id, { settings: changes });
const test = (id: string) => service.api.post(`/api/channels/${id}/test`);
/** Every call about one account. */
const expectNotFound = async (api: ApiClient, id: string) => {
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'Mine' }],
    ['DELETE', '', undefined],
    ['POST', '/test', undefined],
  ] as const) {
    const answer = await api.call(method, `/api/channels/${id}${path}`, body);
    expect([method, answer.status, answer.body.error.code]).toEqual([method, 404, 'not_found']);
  }
};
const number = (last: number) => `1065403522429${String(last).padStart(2, '0')}`;

describe('a connected account', () => {
  it('is shown with its webhook address and a verify token that was made for it, its secrets by name alone', async () => {
    const channel = await made();
    expect(channel).toEqual({
      id: expect.stringMatching(/^chan_[0-9A-Z]{26}$/),
      type: 'whatsapp_cloud',
      name: 'Shop',
      settings: {
        phone_number_id: TEST_NUMBER.id,
        verify_token: expect.stringMatching(/^[\w-]{32}$/),
      },
      secrets_set: ['access_token', 'app_secret'],
      webhook_url: `http://localhost:${new URL(service.url).port}/api/channels/whatsapp_cloud/webhook/${channel.id}`,
      last_test: null,
      last_inbound_at: null,
      created_at: expect.stringMatching(/\+00:00$/),
      updated_at: channel.created_at,
    });
    expect(await read(channel.id)).toEqual(channel);
    expect((await service.api.get('/api/channels')).body).toEqual({
      data: [channel],
      next_cursor: null,
    });
  });

  it('asks nobody when it is connected or changed', async () => {
    const sockets = graph.acceptedSockets;
    const { id } = await made();
    await patchSettings(id, { access_token: 'another' });
    expect(graph.acceptedSockets).toBe(sockets);
  });

  it('takes the verify token that is given, trims what is filled in, and survives a restart', async () => {
    const channel = await made({
      phone_number_id: ` ${TEST_NUMBER.id}\n`,
      verify_token: VERIFY_TOKEN,
    });
    expect(channel.settings).toEqual({
      phone_number_id: TEST_NUMBER.id,
      verify_token: VERIFY_TOKEN,
    });
    await service.restart();
    const after = await read(channel.id);
    expect({ ...after, webhook_url: channel.webhook_url }).toEqual(channel);
  });

  it('keeps what a change leaves out: name, settings and secrets', async () => {
    const before = await made();
    const renamed = await patch(before.id, { name: 'Shop in the harbour' });
    expect(renamed.body).toEqual({
      ...before,
      name: 'Shop in the harbour',
      updated_at: expect.any(String),
    });
    const { status, body } = await patchSettings(before.id, { access_token: 'wrong' });
    expect([status, body.settings]).toEqual([200, before.settings]);
    expect(body.secrets_set).toEqual(['access_token', 'app_secret']);
    expect((await test(before.id)).body.ok).toBe(false);
    await patchSettings(before.id, { access_token: graph.accessToken });
    expect((await test(before.id)).body.ok).toBe(true);
  });

  it('gets a new verify token for an empty one', async () => {
    const { id } = await made({ verify_token: VERIFY_TOKEN });
    const { body } = await patchSettings(id, { verify_token: '' });
    expect(body.settings.verify_token).toMatch(/^[\w-]{32}$/);
  });

  it('is gone once it is disconnected, and the same account can be connected again', async () => {
    const { id } = await made();
    expect((await service.api.delete(`/api/channels/${id}`)).body).toEqual({ id, deleted: true });
    await expectNotFound(service.api, id);
    expect((await made()).id).not.toBe(id);
  });
});

describe('what is filled in', () => {
  const expectRefused = async (answer: ApiAnswer, param: string, words: string) => {
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: { code: 'invalid_request', param, message: expect.stringContaining(words) },
      },
    });
    expect(await list()).toEqual([]);
  };

  it.each([
    ['phone_number_id', undefined, 'is missing'],
    ['phone_number_id', '+1 555 078 3881', 'must be the digits of the phone number ID'],
    ['access_token', '  ', 'must not be empty'],
    ['access_token', 'a\r\nX-Evil: 1', 'must be one line'],
    ['access_token', '“EAAG1”', 'must have only plain letters, digits and symbols'],
    ['access_token', 'EAAG…', 'copy the whole value again'],
    ['access_token', 'EAAG1 EAAG2', 'copy the whole value again'],
    ['app_secret', '0f3a…', 'must have only plain letters, digits and symbols'],
    ['verify_token', '\ud800', 'well-formed'],
    ['acces_token', 'x', 'fields are phone_number_id, access_token, app_secret, verify_token'],
    ['app_secret', 5, 'must be a string'],
  ])('is refused with its field: %s %j', async (field, value, words) =>
    expectRefused(await create({ [field]: value }), `settings.${field}`, words),
  );

  it.each([
    ['settings', [], 'must be an object'],
    ['settings', undefined, 'is missing'],
    ['type', 'web_chat', 'must be one of whatsapp_cloud'],
    ['type', 'telegram', 'must be one of whatsapp_cloud'],
    ['name', ' ', 'must not be empty'],
    ['name', 'x'.repeat(101), 'at most 100'],
  ])('is refused with its field: %s %j', async (field, value, words) =>
    expectRefused(await create({}, { [field]: value }), field, words),
  );

  it('is refused in a change too, which then changes nothing', async () => {
    const channel = await made();
    for (const [given, param] of [
      [{ app_secret: '' }, 'settings.app_secret'],
      [{ phone_number_id: 'x' }, 'settings.phone_number_id'],
      [{ more: 'x' }, 'settings.more'],
    ] as const) {
      const { status, body } = await patch(channel.id, { name: 'Changed', settings: given });
      expect([status, body.error.param]).toEqual([400, param]);
    }
    expect(await read(channel.id)).toEqual(channel);
  });
});

describe('accounts of a workspace', () => {
  it('are several, newest first, in pages', async () => {
    const ids: string[] = [];
    for (const last of [1, 2, 3]) ids.unshift((await made({ phone_number_id: number(last) })).id);
    const { body: first } = await service.api.get('/api/channels?limit=2');
    const next = `/api/channels?limit=2&cursor=${first.next_cursor}`;
    const { body: second } = await service.api.get(next);
    expect([...first.data, ...second.data].map(({ id }: Json) => id)).toEqual(ids);
    expect(second.next_cursor).toBeNull();
  });

  it('are each connected once: a second creation names the first, also when both come at once', async () => {
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const { id } = answers.find(({ status }) => status === 201)!.body;
    for (const { status, body } of answers)
      if (status === 409)
        expect(body.error).toMatchObject({ code: 'channel_exists', existing_id: id });
  });

  it('cannot become one another by a change', async () => {
    const first = await made({ phone_number_id: number(1) });
    const second = await made({ phone_number_id: number(2) });
    const { status, body } = await patchSettings(second.id, { phone_number_id: number(1) });
    expect(status).toBe(409);
    expect(body.error).toMatchObject({ code: 'channel_exists', existing_id: first.id });
    const moved = await patchSettings(second.id, { phone_number_id: number(3) });
    expect([moved.status, moved.body.settings.phone_number_id]).toEqual([200, number(3)]);
    expect((await create({ phone_number_id: number(2) })).status).toBe(201);
  });

  it('are at most 50, also when the last two come at once', async () => {
    for (let last = 0; last < 49; last += 1) await made({ phone_number_id: number(last) });
    const answers = await Promise.all([
      create({ phone_number_id: number(90) }),
      create({ phone_number_id: number(91) }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)!.body.error).toMatchObject({
      code: 'channel_limit_reached',
      message: expect.stringContaining('at most 50'),
    });
  });

  it('are read and changed only with a key', async () => {
    const { id } = await made();
    for (const api of [
      apiClient(service.url, null),
      apiClient(service.url, `cs_live_${'X'.repeat(32)}`),
    ]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['POST', '', {}],
        ['GET', `/${id}`, undefined],
        ['PATCH', `/${id}`, {}],
        ['DELETE', `/${id}`, undefined],
        ['POST', `/${id}/test`, undefined],
      ] as const) {
        const answer = await api.call(method, `/api/channels${path}`, body);
        expect([method, path, answer.status]).toEqual([method, path, 401]);
      }
    }
  });

  it('take no Idempotency-Key where an answer shows a token or waits for the channel', async () => {
    const headers = { 'idempotency-key': 'once' };
    const { id } = await made();
    for (const [method, path, body] of [
      ['POST', '', { type: 'whatsapp_cloud', name: 'Shop', settings: settings() }],
      ['PATCH', `/${id}`, { name: 'x' }],
      ['POST', `/${id}/test`, undefined],
    ] as const) {
      const answer = await service.api.call(method, `/api/channels${path}`, body, headers);
      expect([path, answer.body.error.code]).toEqual([path, 'idempotency_key_not_allowed']);
    }
  });
});

describe('Test connection', () => {
  it('asks the channel with what is filled in, sends nothing, and puts the result on record', async () => {
    const { id } = await made();
    const { status, body } = await test(id);
    expect(status).toBe(200);
    expect(body).toEqual({
      ok: true,
      message: expect.stringContaining(TEST_NUMBER.display_phone_number),
      at: expect.any(String),
    });
    expect((await read(id)).last_test).toEqual(body);
    expect([graph.requests, graph.faults]).toEqual([[], []]);
  });

  it('says in words what is wrong, without the token, and keeps that result too', async () => {
    const { id } = await made({ access_token: 'a-wrong-token-1234' });
    const { status, body } = await test(id);
    expect([status, body.ok]).toEqual([200, false]);
    expect(body.message).toMatch(/token/i);
    expect(body.message).not.toContain('a-wrong-token-1234');
    expect((await read(id)).last_test).toEqual(body);
  });

  it('is forgotten when another value is filled in, but not when the name changes', async () => {
    const { id } = await made();
    await test(id);
    const unchanged = { phone_number_id: TEST_NUMBER.id };
    const renamed = await patch(id, { name: 'Renamed', settings: unchanged });
    expect(renamed.body.last_test).not.toBeNull();
    expect((await patchSettings(id, { access_token: 'another' })).body.last_test).toBeNull();
  });

  it('says nothing about values that were filled in while it ran, and does not delay the change', async () => {
    const { id } = await made();
    let answerNow = () => {};
    const asked = new Promise<void>((resolve) => {
      graph.answerNumberWith((response) => {
        answerNow = () => respondJson(response, 200, TEST_NUMBER);
        resolve();
      });
    });
    const testing = test(id);
    await asked;
    expect((await patchSettings(id, { access_token: 'another' })).status).toBe(200);
    answerNow();
    expect((await testing).body.ok).toBe(true);
    expect((await read(id)).last_test).toBeNull();
  });

  it('of an account that is disconnected during the test leaves nothing behind', async () => {
    const { id } = await made();
    let hangUp = () => {};
    const asked = new Promise<void>((resolve) => {
      graph.answerNumberWith((response) => {
        hangUp = () => void response.socket?.destroy();
        resolve();
      });
    });
    const testing = test(id);
    await asked;
    await service.api.delete(`/api/channels/${id}`);
    hangUp();
    expect((await testing).body.ok).toBe(false);
    expect(await list()).toEqual([]);
  });
});

it('never shows, logs or stores a secret in the clear', async () => {
  const { id } = await made({ verify_token: VERIFY_TOKEN });
  const wrong = 'EAAGwrong-token-9c1d';
  const answers: Json[] = [
    await service.api.get(`/api/channels/${id}`),
    await service.api.get('/api/channels'),
    await patchSettings(id, { access_token: wrong }),
    await create({ access_token: wrong }),
    await patchSettings(id, { app_secret: APP_SECRET, unknown: wrong }),
  ];
  expect(logged.join('')).toContain(id);
  for (const secret of [graph.accessToken, APP_SECRET, wrong]) {
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(secret);
    expect(logged.join('')).not.toContain(secret);
  }
  const stored = await service.stored();
  expect(stored).toContain(id);
  for (const secret of [graph.accessToken, APP_SECRET, wrong, VERIFY_TOKEN])
    expect(stored).not.toContain(secret);
});
