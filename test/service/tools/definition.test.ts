import { describe, expect, it } from '@jest/globals';
import { endpoint, service, useToolService } from './toolService.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are sent and looked at field by field
type Json = any;

describe("a tool's definition", () => {
  useToolService({ env: { ALLOWED_NETWORKS: '127.0.0.1/32' } });
  let count = 0;

  const newName = () => `tool_${++count}`;
  const webhookTool = (fields: Json = {}) => ({
    name: newName(),
    description: 'Finds an order.',
    kind: 'Webhook',
    endpoint: `${endpoint.url}/tool`,
    ...fields,
  });
  const template = (fields: Json = {}) => ({
    method: 'GET',
    url: `${endpoint.url}/orders`,
    ...fields,
  });
  const httpTool = (fields: Json = {}, templateFields: Json = {}) => ({
    name: newName(),
    description: 'Finds an order.',
    kind: 'HTTP',
    request_template: template(templateFields),
    ...fields,
  });
  const postTool = (body: Json) => service.api.post('/api/tools', body);
  const readTool = async (id: string) => (await service.api.get(`/api/tools/${id}`)).body;
  const patchTool = (id: string, changes: Json) => service.api.patch(`/api/tools/${id}`, changes);
  const createTool = async (body: Json) => {
    const answer = await postTool(body);
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
    return answer.body;
  };
  const object = (properties: Json) => ({ type: 'object', properties });

  it('is a draft with defaults, and shows the signing secret of a Webhook tool this once only', async () => {
    const name = newName();
    const { status, body } = await postTool(webhookTool({ name }));
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^tool_[0-9A-Z]{26}$/),
      name,
      description: 'Finds an order.',
      parameters: { type: 'object', properties: {} },
      kind: 'Webhook',
      endpoint: `${endpoint.url}/tool`,
      request_template: null,
      secret_names: [],
      timeout: 10,
      ask_before_running: false,
      read_only: false,
      example_phrases: [],
      status: 'draft',
      tested_at: null,
      going_live: false,
      owner: null,
      revision: 0,
      last_test: null,
      created_at: expect.stringMatching(/\+00:00$/),
      updated_at: body.created_at,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret: _, ...shown } = body;
    expect(await readTool(body.id)).toEqual(shown);
  });

  it('of the HTTP kind has a template in its stored form, the names of its secrets, and no signing secret', async () => {
    const tool = await createTool(
      httpTool(
        { secrets: { API_TOKEN: 'an-http-secret' } },
        { method: 'post', headers: { authorization: 'Bearer {{secrets.API_TOKEN}}' } },
      ),
    );
    expect(tool).toMatchObject({
      endpoint: null,
      secret: null,
      secret_names: ['API_TOKEN'],
      request_template: {
        method: 'POST',
        query: {},
        headers: { authorization: 'Bearer {{secrets.API_TOKEN}}' },
      },
    });
    expect(JSON.stringify(tool)).not.toContain('an-http-secret');
  });

  it('calls no endpoint when it is saved', async () => {
    const { id } = await createTool(webhookTool());
    await patchTool(id, { endpoint: `${endpoint.url}/changed` });
    expect(endpoint.requests).toHaveLength(0);
  });

  it.each<[Json, string]>([
    [{ name: undefined }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'Find' }, 'name'],
    [{ name: '1find' }, 'name'],
    [{ name: '_find' }, 'name'],
    [{ name: 'find-order' }, 'name'],
    [{ name: 'find order' }, 'name'],
    [{ name: 'find\n' }, 'name'],
    [{ name: 'é' }, 'name'],
    [{ name: 'a'.repeat(65) }, 'name'],
    [{ description: undefined }, 'description'],
    [{ description: ' \n' }, 'description'],
    [{ description: 'x'.repeat(1025) }, 'description'],
    [{ description: 'half \ud800' }, 'description'],
    [{ description: 'nul \0' }, 'description'],
    [{ kind: undefined }, 'kind'],
    [{ kind: 'webhook' }, 'kind'],
    [{ kind: 'Email' }, 'kind'],
    [{ endpoint: undefined }, 'endpoint'],
    [{ endpoint: '' }, 'endpoint'],
    [{ endpoint: 5 }, 'endpoint'],
    [{ endpoint: `https://localhost/${'x'.repeat(2048)}` }, 'endpoint'],
    [{ timeout: 0 }, 'timeout'],
    [{ timeout: 0.999 }, 'timeout'],
    [{ timeout: 120.001 }, 'timeout'],
    [{ timeout: -1 }, 'timeout'],
    [{ timeout: '10' }, 'timeout'],
    [{ timeout: null }, 'timeout'],
    [{ ask_before_running: 'yes' }, 'ask_before_running'],
    [{ ask_before_running: null }, 'ask_before_running'],
    [{ read_only: 'yes' }, 'read_only'],
    [{ example_phrases: 'where is my order' }, 'example_phrases'],
    [{ example_phrases: ['a'.repeat(201)] }, 'example_phrases.0'],
    [{ example_phrases: Array(21).fill('order') }, 'example_phrases'],
    [{ parameters: [] }, 'parameters'],
    [{ parameters: null }, 'parameters'],
    [{ parameters: 'object' }, 'parameters'],
    [{ parameters: { type: 'array' } }, 'parameters.type'],
    [{ parameters: { type: 'objekt' } }, 'parameters.type'],
    [
      { parameters: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' } },
      'parameters.$schema',
    ],
    [
      { parameters: { type: 'object', properties: { a: { minimum: 'x' } } } },
      'parameters.properties.a.minimum',
    ],
    [{ secrets: { A: 'bcde' } }, 'secrets'],
  ])('of the Webhook kind: refuses %j, naming %s', async (fields, param) => {
    const { status, body } = await postTool(webhookTool(fields));
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
  });

  it.each<[Json, Json, string]>([
    [{ request_template: undefined }, {}, 'request_template'],
    [{ request_template: null }, {}, 'request_template'],
    [{ request_template: 'GET https://example.com' }, {}, 'request_template'],
    [{}, { method: 'FETCH' }, 'request_template.method'],
    [{}, { url: undefined }, 'request_template.url'],
    [{}, { url: 'https://{{args.host}}/x' }, 'request_template.url'],
    [{}, { url: 'https://example.com/{{args.unknown}}' }, 'request_template.url'],
    [{}, { url: 'https://example.com/{{secrets.TOKEN}}' }, 'request_template.url'],
    [{}, { query: { q: '{{secrets.TOKEN}}' } }, 'request_template.query.q'],
    [{}, { method: 'POST', body: { q: '{{secrets.TOKEN}}' } }, 'request_template.body.q'],
    [{}, { headers: { 'x-key': '{{secrets.OTHER}}' } }, 'request_template.headers.x-key'],
    [{}, { body: {} }, 'request_template.body'],
    [{}, { retries: 5 }, 'request_template.retries'],
    [{ secrets: { '1A': 'bcde' } }, {}, 'secrets.1A'],
    [{ secrets: { A: '' } }, {}, 'secrets.A'],
    [{ secrets: { A: 5 } }, {}, 'secrets.A'],
    [{ secrets: { A: 'x'.repeat(4097) } }, {}, 'secrets.A'],
    [
      { secrets: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`S${n}`, 'value'])) },
      {},
      'secrets',
    ],
    [{ endpoint: 'https://localhost/x' }, {}, 'endpoint'],
  ])(
    'of the HTTP kind: refuses %j with the template %j, naming %s',
    async (fields, templateFields, param) => {
      const { status, body } = await postTool({
        parameters: object({ host: {} }),
        secrets: { TOKEN: 'a-token-value' },
        ...httpTool({}, templateFields),
        ...fields,
      });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
      expect(JSON.stringify(body)).not.toContain('a-token-value');
    },
  );

  it('does not mix kinds', async () => {
    const invalid = (param: string) => ({ code: 'invalid_request', param });
    const both = { endpoint: `${endpoint.url}/tool`, request_template: template() };
    expect((await postTool(webhookTool(both))).body.error).toMatchObject(
      invalid('request_template'),
    );
    expect((await postTool(httpTool(both))).body.error).toMatchObject(invalid('endpoint'));
    const webhook = await createTool(webhookTool());
    const http = await createTool(httpTool());
    for (const [{ id }, changes, param] of [
      [webhook, { request_template: template() }, 'request_template'],
      [webhook, { secrets: { A: 'bcde' } }, 'secrets'],
      [webhook, { kind: 'HTTP' }, 'kind'],
      [http, { endpoint: `${endpoint.url}/tool` }, 'endpoint'],
    ] as const)
      expect((await patchTool(id, changes)).body.error).toMatchObject(invalid(param));
  });

  it('refuses unknown fields, when it is created and when it is changed', async () => {
    expect((await postTool(webhookTool({ retries: 5 }))).status).toBe(400);
    expect((await postTool(webhookTool({ status: 'live' }))).status).toBe(400);
    const { id } = await createTool(webhookTool());
    for (const field of [
      { status: 'live' },
      { tested_at: '2026-11-21T10:00:00.000+00:00' },
      { secret: 'mine' },
      { id: 'tool_x' },
    ]) {
      expect((await patchTool(id, field)).status).toBe(400);
    }
    expect(await readTool(id)).toMatchObject({
      status: 'draft',
      tested_at: null,
    });
  });

  it.each<[string, string]>([
    ['http://example.com/tool', 'target_url_not_https'],
    ['ftp://example.com/tool', 'target_url_not_https'],
    ['file:///etc/passwd', 'target_url_not_https'],
    ['https://127.0.0.2/tool', 'target_url_not_public'],
    ['https://127.2/tool', 'target_url_not_public'],
    ['https://2130706434/tool', 'target_url_not_public'],
    ['https://[::ffff:127.0.0.2]/tool', 'target_url_not_public'],
    ['https://0.0.0.0/tool', 'target_url_not_public'],
    ['https://10.0.0.1/tool', 'target_url_not_public'],
    ['https://172.16.0.1/tool', 'target_url_not_public'],
    ['https://192.168.1.1/tool', 'target_url_not_public'],
    ['https://169.254.1.1/tool', 'target_url_not_public'],
    ['https://169.254.169.254/latest/meta-data', 'target_url_not_public'],
    ['https://[fd00:ec2::254]/', 'target_url_not_public'],
    ['https://100.64.0.1/', 'target_url_not_public'],
    ['https://[fe80::1]/', 'target_url_not_public'],
    ['https://[64:ff9b::a9fe:a9fe]/', 'target_url_not_public'],
    ['https://no-such-name.invalid/tool', 'target_url_unresolvable'],
    ['https://user:password@localhost/tool', 'target_url_invalid'],
    ['https://localhost/tool#part', 'target_url_invalid'],
    ['https:\\\\localhost\\tool', 'target_url_invalid'],
    [' https://localhost/tool', 'target_url_invalid'],
    ['not an address', 'target_url_invalid'],
  ])('refuses the address %s with %s', async (url, code) => {
    const asEndpoint = await postTool(webhookTool({ endpoint: url }));
    expect([asEndpoint.status, asEndpoint.body.error.code, asEndpoint.body.error.param]).toEqual([
      422,
      code,
      'endpoint',
    ]);
    const asTemplate = await postTool(httpTool({}, { url }));
    // The check of the template may refuse it first, with 400.
    expect([400, 422]).toContain(asTemplate.status);
    expect(asTemplate.body.error.param).toBe('request_template.url');
    if (asTemplate.status === 422) expect(asTemplate.body.error.code).toBe(code);
  });

  it('refuses such an address in a change too, and keeps the one it has', async () => {
    const { id } = await createTool(webhookTool());
    const change = { endpoint: 'https://10.0.0.1/tool' };
    expect((await patchTool(id, change)).body.error).toMatchObject({
      code: 'target_url_not_public',
      param: 'endpoint',
    });
    expect((await readTool(id)).endpoint).toBe(`${endpoint.url}/tool`);
  });

  it.each([
    ['https://10.0.0.1/{{args.q}}', 422, 'target_url_not_public'],
    ['https://169.254.169.254/?a={{args.q}}', 422, 'target_url_not_public'],
    ['https://127.0.0.2:8443/x?{{args.q}}=1', 400, 'invalid_request'],
  ])('refuses the template address %s with %i %s', async (url, refusal, code) => {
    const { status, body } = await postTool({
      ...httpTool({}, { url }),
      parameters: object({ q: { type: 'string' } }),
    });
    expect([status, body.error.code, body.error.param]).toEqual([
      refusal,
      code,
      'request_template.url',
    ]);
  });

  it.each(['parameters', 'request_template'])(
    'refuses a number in its %s that is too large',
    async (field) => {
      const text = JSON.stringify(
        httpTool({
          [field]: { type: 'object', default: 0, ...(field === 'parameters' ? {} : template()) },
        }),
      ).replace('"default":0', '"default":1e400');
      const { status, body } = await postTool(text);
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', field]);
    },
  );

  it('has a name that no other tool of its workspace has, also after a change', async () => {
    const first = await createTool(webhookTool());
    expect((await postTool(webhookTool({ name: first.name }))).body.error).toMatchObject({
      code: 'tool_exists',
      existing_id: first.id,
      param: 'name',
    });
    const second = await createTool(webhookTool());
    const renamed = await patchTool(second.id, { name: first.name });
    expect([renamed.status, renamed.body.error.existing_id]).toEqual([409, first.id]);
    expect((await patchTool(first.id, { name: first.name })).status).toBe(200);
    await service.api.delete(`/api/tools/${first.id}`);
    expect((await patchTool(second.id, { name: first.name })).status).toBe(200);
  });

  it('gets a name that only one of several requests at once may take', async () => {
    const name = newName();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => postTool(webhookTool({ name }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('keeps what a change leaves out, also when several change different fields at once', async () => {
    for (let n = 0; n < 5; n++) {
      const { id } = await createTool(
        httpTool(
          { secrets: { TOKEN: 'a-token-value' } },
          { headers: { 'x-key': '{{secrets.TOKEN}}' } },
        ),
      );
      const changes = [
        { description: 'Changed.' },
        { timeout: 33 },
        { ask_before_running: true },
        { read_only: true },
        { example_phrases: ['where is my order'] },
        { parameters: object({ q: { type: 'string' } }) },
        { name: newName() },
        { secrets: { OTHER: 'other-value' } },
      ];
      const answers = await Promise.all(changes.map((change) => patchTool(id, change)));
      expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
      const { secrets: _, ...visible } = Object.assign({}, ...changes);
      expect(await readTool(id)).toMatchObject({
        ...visible,
        secret_names: ['TOKEN', 'OTHER'],
        request_template: { url: `${endpoint.url}/orders` },
      });
    }
  });

  it('can be edited while its address is not allowed, as long as the address stays', async () => {
    const { id } = await createTool(webhookTool());
    await service.restart({ ALLOWED_NETWORKS: '10.0.0.0/8' });
    expect((await patchTool(id, { ask_before_running: true })).status).toBe(200);
    const moved = await patchTool(id, { endpoint: `${endpoint.url}/other` });
    expect(moved.body.error.code).toBe('target_url_not_public');
    await service.restart({});
  });

  it("checks a template's placeholders against changed parameters", async () => {
    const { id } = await createTool({
      ...httpTool({}, { query: { q: '{{args.q}}' } }),
      parameters: object({ q: { type: 'string' } }),
    });
    const { status, body } = await patchTool(id, {
      parameters: object({ other: {} }),
    });
    expect([status, body.error.param]).toEqual([400, 'request_template.query.q']);
  });

  it('takes no Idempotency-Key where a secret is shown or an endpoint is called, and makes a change once for one key', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const { id } = await createTool(webhookTool());
    for (const [path, sent] of [
      ['/api/tools', webhookTool()],
      [`/api/tools/${id}/test`, {}],
      [`/api/tools/${id}/rotate-secret`],
    ] as const) {
      const { body } = await service.api.post(path, sent, headers);
      expect([path, body.error.code]).toEqual([path, 'idempotency_key_not_allowed']);
    }
    expect(endpoint.requests).toHaveLength(0);
    const first = await service.api.call('PATCH', `/api/tools/${id}`, { timeout: 20 }, headers);
    await patchTool(id, { timeout: 30 });
    const again = await service.api.call('PATCH', `/api/tools/${id}`, { timeout: 20 }, headers);
    expect([first.status, again.body]).toEqual([200, first.body]);
    expect((await readTool(id)).timeout).toBe(30);
  });

  it('is listed newest first, by pages, by name and by status', async () => {
    const names = [newName(), newName(), newName()];
    for (const name of names) await createTool(webhookTool({ name }));
    const list = async (query: string) => (await service.api.get(`/api/tools${query}`)).body;
    const namesIn = (page: Json) => page.data.map(({ name }: Json) => name);
    const first = await list('?limit=2');
    expect(namesIn(first)).toEqual([names[2], names[1]]);
    const second = await list(`?limit=2&cursor=${first.next_cursor}`);
    expect(second.data[0].name).toBe(names[0]);
    expect(namesIn(await list(`?name=${names[1]}`))).toEqual([names[1]]);
    expect((await list('?name=no_such_tool')).data).toEqual([]);
    expect((await list('?status=live')).data).toEqual([]);
    expect((await list('?status=draft&limit=200')).data.length).toBeGreaterThan(3);
    for (const query of ['?limit=0', '?limit=201', '?limit=x', '?cursor=made-up', '?status=gone'])
      expect((await service.api.get(`/api/tools${query}`)).status).toBe(400);
    for (const tool of (await list('?limit=200')).data) {
      expect(tool).not.toHaveProperty('secret');
      expect(tool).not.toHaveProperty('sealed_secret');
    }
  });

  it('is gone after it was deleted', async () => {
    const { id } = await createTool(webhookTool());
    expect((await service.api.delete(`/api/tools/${id}`)).body).toEqual({ id, deleted: true });
    for (const [method, path, sent] of [
      ['GET', ''],
      ['DELETE', ''],
      ['PATCH', '', { timeout: 5 }],
      ['POST', '/test', {}],
      ['POST', '/go-live', {}],
      ['POST', '/pause', {}],
      ['POST', '/rotate-secret', {}],
    ] as const) {
      const { status, body } = await service.api.call(method, `/api/tools/${id}${path}`, sent);
      expect([method, path, status, body.error.code]).toEqual([method, path, 404, 'not_found']);
    }
  });

  it('has test calls that another workspace does not list', async () => {
    const tool = await createTool(webhookTool());
    const call = (await service.api.post(`/api/tools/${tool.id}/test`, {})).body;
    expect(call.status).toBe('succeeded');
    const other = await service.addWorkspace('Other');
    expect((await other.get('/api/tool-calls?conversation_id=conv_test')).body.data).toEqual([]);
  });

  it('is one of at most a hundred, also when two are created at once or one is published', async () => {
    const other = await service.addWorkspace('Full');
    for (let n = 1; n <= 99; n += 9)
      await Promise.all(Array.from({ length: 9 }, () => other.post('/api/tools', webhookTool())));
    const answers = await Promise.all([
      other.post('/api/tools', webhookTool()),
      other.post('/api/tools', webhookTool()),
    ]);
    expect(answers.map(({ status, body }) => [status, body.error?.code]).sort()).toEqual([
      [201, undefined],
      [409, 'tool_limit_reached'],
    ]);
    const published = await other.put('/api/tools/published/one_more', {
      definition: { description: 'Finds an order.', endpoint: `${endpoint.url}/tool` },
      owner: {
        instance_id: 'instance-1',
        workflow_id: 'workflow-1',
        workflow_name: 'Orders',
        node_id: 'node-1',
        host: 'n8n.example.com',
      },
    });
    expect(published.body.error).toMatchObject({
      code: 'tool_limit_reached',
      message: expect.stringMatching(/at most 100 tools\. Delete a tool/),
    });
    const [newest] = (await other.get('/api/tools')).body.data;
    await other.delete(`/api/tools/${newest.id}`);
    expect((await other.post('/api/tools', webhookTool())).status).toBe(201);
  });
});
