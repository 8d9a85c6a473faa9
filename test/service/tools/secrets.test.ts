import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import {
  agentSays,
  ask,
  body,
  makeLive,
  newestCall,
  startToolEndpoint,
  type Answer,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { endpoint, service, useToolService } from './toolService.ts';

const TOKEN = 'sk-live/7Yq+"Zx9&Wv==secret';
const PLAIN = 'plain-password-123456';
const PIN = '90210733';
/** No template uses it. */
const SPARE = 'spare-password-654321';

describe("a tool's secrets", () => {
  let findOrder: DefinedTool;
  let log = '';
  /** Bodies of the API and chat messages: no secret may stand in them. */
  const answers: string[] = [];
  const secrets: string[] = [TOKEN, PLAIN, PIN];

  const sink = new Writable({
    write(chunk, _encoding, done) {
      log += String(chunk);
      done();
    },
  });
  useToolService({ log: pino({ level: 'trace' }, sink) });
  beforeAll(async () => {
    findOrder = await define('find_order');
  });

  const keep = <A extends { body: unknown }>(answer: A): A => {
    answers.push(JSON.stringify(answer.body));
    return answer;
  };
  const define = (name: string, moreSecrets: Record<string, string> = {}) =>
    endpoint.defineHttp(service.api, {
      name,
      timeout: 1,
      secrets: { ...moreSecrets, TOKEN, PLAIN, PIN },
      request_template: {
        method: 'GET',
        url: `${endpoint.url}/${name}`,
        headers: {
          authorization: 'Bearer {{secrets.TOKEN}}',
          'x-key': '{{secrets.PLAIN}}',
          'x-pin': '{{secrets.PIN}}',
        },
      },
    });
  const testCall = async ({ id, path }: DefinedTool, answer: Answer) => {
    endpoint.answer(path, answer, answer, answer);
    return keep(await service.api.post(`/api/tools/${id}/test`, {})).body;
  };
  const read = async ({ id }: DefinedTool) => (await service.api.get(`/api/tools/${id}`)).body;
  const patch = async ({ id }: DefinedTool, changes: object) =>
    keep(await service.api.patch(`/api/tools/${id}`, changes));
  /** Makes a test call, which sends these headers. */
  const expectSent = async ({ id, path }: DefinedTool, headers: object) => {
    await service.api.post(`/api/tools/${id}/test`, {});
    expect(endpoint.at(path).at(-1)!.headers).toMatchObject(headers);
  };
  /** How Basic authentication carries a password. */
  const basic = Buffer.from(`user:${PLAIN}`).toString('base64');
  const all = `${TOKEN} ${PLAIN} ${encodeURIComponent(TOKEN)} ${basic}`;

  it('reach the endpoint', async () => {
    expect((await testCall(findOrder, 200)).status).toBe('succeeded');
    expect(endpoint.at('/find_order')[0]!.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'x-key': PLAIN,
    });
  });

  it('are cut out of results, keys and numbers too, and of errors', async () => {
    const echoed = await testCall(findOrder, {
      json: {
        headers: { authorization: `Bearer ${TOKEN}` },
        [PLAIN]: all,
        list: [[PLAIN]],
        pin: Number(PIN),
        order: 77001122,
      },
    });
    expect(echoed.result).toMatchObject({
      headers: { authorization: 'Bearer [secret]' },
      '[secret]': expect.any(String),
      list: [['[secret]']],
      pin: '[secret]',
      order: 77001122,
    });
    await testCall(findOrder, { json: { error: all }, status: 401 });
    await testCall(findOrder, { json: all, status: 500 });
    await testCall(findOrder, body(all, { 'content-type': 'text/plain' }));
    await testCall(findOrder, body('x', { 'content-type': `image/${PLAIN}` }));
    await testCall(findOrder, body(`{"a":"${PLAIN}`, { 'content-type': 'application/json' }));
    expect((await read(findOrder)).last_test.succeeded).toBe(false);
  });

  it('leave numbers as they are when they are too short to be cut out', async () => {
    const tool = await define('count_stock', { SHELF: '12' });
    const counted = await testCall(tool, { json: { stock: 12, shelf: '12' } });
    expect(counted.result).toEqual({ stock: 12, shelf: '12' });
    await service.api.delete(`/api/tools/${tool.id}`);
  });

  it('are cut out of an error that is itself cut, at any place', async () => {
    for (let before = 300 - PLAIN.length - 1; before <= 300; before += 3) {
      const { error } = await testCall(
        findOrder,
        body(`${'.'.repeat(before)}${PLAIN} and more`, { 'content-type': 'text/plain' }, 400),
      );
      expect(error.message).not.toMatch(/plai|pass|1234/);
    }
    const { error } = await testCall(
      findOrder,
      body('x', { 'content-type': `${'a'.repeat(90)}${PLAIN}` }),
    );
    expect(error.message).not.toMatch(/plai|pass|1234/);
    await service.api.delete(`/api/tools/${findOrder.id}`);
  });

  it('are cut out of what the agent says', async () => {
    const tool = await define('check_stock');
    await makeLive(service.api, tool);
    endpoint.answerAlways(tool.path, { json: { message: `Your key is ${PLAIN} or ${TOKEN}.` } });
    const { customer, conversationId } = await ask(service.url, tool);
    expect(await agentSays(customer)).toBe('Your key is [secret] or [secret].');
    keep({ body: await newestCall(service.api, `conversation_id=${conversationId}`) });
    keep(await service.api.get(`/api/conversations/${conversationId}`));
    answers.push(JSON.stringify(await customer.read()));
  });

  it('are cut out of what a Webhook tool answers: the signing secret, with and without its prefix', async () => {
    const tool = await endpoint.define(service.api, { name: 'book_table' });
    secrets.push(tool.secret!, tool.secret!.slice('whsec_'.length));
    endpoint.answer(
      tool.path,
      { json: { a: tool.secret, b: tool.secret!.slice('whsec_'.length) } },
      { json: `no: ${tool.secret}`, status: 400 },
    );
    const echoed = keep(await service.api.post(`/api/tools/${tool.id}/test`, {}));
    expect(echoed.body.result.a).toBe('[secret]');
    const refused = keep(await service.api.post(`/api/tools/${tool.id}/test`, {}));
    expect(refused.body.error.message).toContain('no: [secret]');
    const rotated = await service.api.post(`/api/tools/${tool.id}/rotate-secret`);
    secrets.push(rotated.body.secret);
    keep(await service.api.get(`/api/tools/${tool.id}`));
  });

  it('can be replaced one by one, and the others stay; the tool becomes a draft', async () => {
    const tool = await define('rent_bicycle');
    await makeLive(service.api, tool);
    const { body: patched } = await patch(tool, { secrets: { PLAIN: 'another-password' } });
    secrets.push('another-password');
    expect(patched).toMatchObject({
      status: 'draft',
      tested_at: null,
      secret_names: ['TOKEN', 'PLAIN', 'PIN'],
    });
    const sent = { authorization: `Bearer ${TOKEN}`, 'x-key': 'another-password' };
    await expectSent(tool, sent);
    await service.restart();
    await expectSent(tool, sent);
  });

  it('leave the tool live when the same ones are given again', async () => {
    const tool = await define('track_parcel', { SPARE });
    await makeLive(service.api, tool);
    const { request_template } = await read(tool);
    for (const again of [{ secrets: { PLAIN } }, { request_template, secrets: { PLAIN, SPARE } }]) {
      const { body } = await patch(tool, again);
      expect(body).toMatchObject({ status: 'live', tested_at: expect.any(String) });
    }
  });

  it('can be given again when what is stored cannot be opened', async () => {
    const tool = await define('find_damaged');
    await service.changeStored((store) =>
      store.transaction(async (tx) => {
        const stored = (await tx.tools.get(tool.id))!;
        const damaged = stored.sealedTemplateSecrets.PIN!.slice(0, -4) + 'AAAA';
        const sealedTemplateSecrets = { ...stored.sealedTemplateSecrets, PIN: damaged };
        await tx.tools.put({ ...stored, sealedTemplateSecrets });
      }),
    );
    expect((await patch(tool, { secrets: { PIN } })).status).toBe(200);
    expect((await testCall(tool, 200)).status).toBe('succeeded');
    expect(endpoint.at('/find_damaged')[0]!.headers).toMatchObject({ 'x-pin': PIN });
  });

  it('are at most 20, however many changes bring them', async () => {
    const tool = await define('keep_few');
    const more = Object.fromEntries(
      Array.from({ length: 18 }, (_, i) => [`MORE_${i}`, 'v'.repeat(9)]),
    );
    const { status, body } = await patch(tool, { secrets: more });
    expect([status, body.error?.param]).toEqual([400, 'secrets']);
    expect((await read(tool)).secret_names).toEqual(['TOKEN', 'PLAIN', 'PIN']);
  });

  it('are removed once the request no longer uses them, so that they can be rotated under new names', async () => {
    const tool = await define('rename_keys');
    const { request_template: template } = await read(tool);
    for (let version = 1; version <= 21; version++) {
      const headers = { 'x-key': `{{secrets.KEY_${version}}}`, 'x-pin': '{{secrets.PIN}}' };
      const { status, body } = await patch(tool, {
        request_template: { ...template, headers },
        secrets: { [`KEY_${version}`]: `key-number-${version}` },
      });
      expect([status, body.secret_names]).toEqual([200, ['PIN', `KEY_${version}`]]);
    }
    await expectSent(tool, { 'x-key': 'key-number-21', 'x-pin': PIN });
  });

  describe('when the request goes to another place', () => {
    let elsewhere: ToolEndpoint;
    beforeAll(async () => void (elsewhere = await startToolEndpoint()));
    afterAll(() => elsewhere?.close());
    const headers = { authorization: 'Bearer {{secrets.TOKEN}}', 'x-key': '{{secrets.PLAIN}}' };
    const at = (url: string, more: object = {}) => ({
      request_template: { method: 'GET', url, headers, ...more },
    });

    it.each([
      ['port', () => elsewhere.url],
      ['host', () => endpoint.url.replace('localhost', '127.0.0.1')],
      ['scheme', () => endpoint.url.replace('https:', 'http:')],
    ])('must be given again: another %s', async (part, newPlace) => {
      const tool = await define(`move_${part}`);
      const place = newPlace();
      await service.restart({ INSECURE_TARGETS: 'true' });
      const before = await read(tool);
      for (const given of [undefined, {}, { PIN }, { PLAIN }]) {
        const changes = { ...at(`${place}/x`), ...(given && { secrets: given }) };
        const { status, body: refused } = await patch(tool, changes);
        expect(status).toBe(400);
        expect(refused.error).toMatchObject({ code: 'invalid_request', param: 'secrets' });
        expect(refused.error.message).toContain(
          given?.PLAIN === undefined
            ? 'secrets TOKEN, PLAIN must be given again'
            : 'secrets TOKEN must be given again',
        );
      }
      expect(await read(tool)).toEqual(before);
      expect(elsewhere.requests).toHaveLength(0);
    });

    it('are sent there when they were given again; the others are gone for good', async () => {
      const tool = await define('move_house');
      const given = { TOKEN: 'new-token-for-elsewhere', PLAIN: 'new-plain-for-elsewhere' };
      secrets.push(...Object.values(given));
      const url = `${elsewhere.url}/moved`;
      const moved = await patch(tool, { ...at(url), secrets: given });
      expect(moved.body).toMatchObject({ status: 'draft', secret_names: ['TOKEN', 'PLAIN'] });
      await service.api.post(`/api/tools/${tool.id}/test`, {});
      expect(elsewhere.at('/moved')[0]!.headers).toMatchObject({
        authorization: 'Bearer new-token-for-elsewhere',
        'x-key': 'new-plain-for-elsewhere',
      });
      const later = await patch(tool, at(url, { headers: { 'x-pin': '{{secrets.PIN}}' } }));
      expect([later.status, later.body.error.param]).toEqual([
        400,
        'request_template.headers.x-pin',
      ]);
    });

    it('do not come along in two steps, the address first and the headers then', async () => {
      const tool = await define('move_slowly');
      const moved = await patch(tool, at(`${elsewhere.url}/slow`, { headers: {} }));
      expect(moved.body.secret_names).toEqual([]);
      for (const { url } of [elsewhere, endpoint])
        expect((await patch(tool, at(`${url}/slow`))).status).toBe(400);
    });

    it('stay, if used, while scheme, host and port stay, in any spelling, whatever path, method and headers change', async () => {
      const tool = await define('stay_here');
      const url = `${endpoint.url.replace('https://localhost', 'HTTPS://LocalHost')}/elsewhere`;
      const headers = { 'x-other': '{{secrets.PIN}}' };
      const changed = await patch(tool, at(url, { method: 'POST', headers }));
      expect([changed.status, changed.body.secret_names]).toEqual([200, ['PIN']]);
      await service.api.post(`/api/tools/${tool.id}/test`, {});
      expect(endpoint.at('/elsewhere')[0]!.headers['x-other']).toBe(PIN);
    });
  });

  it('stand in no error about a request that cannot be made', async () => {
    const bad = 'sècret\r\nX-Evil: 1';
    secrets.push(bad);
    const { body: tool } = keep(
      await service.api.post('/api/tools', {
        name: 'odd',
        description: 'x',
        kind: 'HTTP',
        secrets: { BAD: bad },
        request_template: {
          method: 'GET',
          url: `${endpoint.url}/odd`,
          headers: { 'x-key': '{{secrets.BAD}}' },
        },
      }),
    );
    const { body: failed } = keep(await service.api.post(`/api/tools/${tool.id}/test`, {}));
    expect(failed).toMatchObject({ status: 'failed', error: { type: 'invalid_arguments' } });
    expect(JSON.stringify(failed)).not.toContain('Evil');
    expect(endpoint.at('/odd')).toHaveLength(0);
  });

  it('stand in no answer of the API and no chat message', async () => {
    keep(await service.api.get('/api/tools?limit=200'));
    keep(await service.api.get('/api/tool-calls?limit=200'));
    expect(answers.length).toBeGreaterThan(15);
    for (const secret of secrets)
      for (const answer of answers)
        expect(answer).not.toContain(JSON.stringify(secret).slice(1, -1));
    for (const answer of answers) expect(answer).not.toContain(basic);
  });

  it('stand in no log line, and nowhere in the store', async () => {
    await service.restart();
    const stored = await service.stored();
    expect(log).toContain('tool call');
    expect(stored).toContain('rent_bicycle');
    for (const secret of secrets) {
      for (const spelling of [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(secret),
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      ]) {
        expect([
          spelling,
          log.includes(spelling),
          stored.includes(spelling),
          stored.includes(Buffer.from(spelling).toString('latin1')),
        ]).toEqual([spelling, false, false, false]);
      }
    }
  });
});
