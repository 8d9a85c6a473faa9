import { describe, expect, it } from '@jest/globals';
import {
  browser,
  create,
  httpForm,
  newName,
  newestTool,
  row,
  testCall,
  useToolScreens,
  webhookForm,
} from './toolScreens.ts';
import { endpoint, service } from '../toolService.ts';

useToolScreens();

describe('making a tool', () => {
  it('makes a Webhook tool from fields, and shows its signing secret once and how to verify calls', async () => {
    const page = await browser.post(
      '/tools',
      webhookForm({
        ...row(1, { name: 'carrier', options: 'dhl, ups' }),
        ...row(2, { name: 'parts', type: 'integer', options: '1, 2, 2.0' }),
        ask: 'on',
        read_only: 'on',
        example_phrases: 'where is my order\n\n has it left ',
      }),
    );
    expect(page.status).toBe(201);
    const [secret] = /whsec_[\w+/=]+/.exec(page.html)!;
    expect(page.html).toContain('data-copy="#once"');
    expect(page.text).toContain('X-Service-Signature');
    const tool = await newestTool();
    expect(tool).toMatchObject({
      kind: 'Webhook',
      status: 'draft',
      timeout: 1,
      ask_before_running: true,
      read_only: true,
      example_phrases: ['where is my order', 'has it left'],
      endpoint: `${endpoint.url}/orders`,
    });
    expect(tool.parameters).toEqual({
      type: 'object',
      properties: {
        order_number: { type: 'string', description: 'The order number' },
        carrier: { type: 'string', enum: ['dhl', 'ups'] },
        parts: { type: 'integer', enum: [1, 2] },
      },
      required: ['order_number'],
    });
    for (const path of [`/tools/${tool.id}`, `/tools/${tool.id}/edit`, '/tools'])
      expect((await browser.get(path)).html).not.toContain(secret);
  });

  it('makes an HTTP tool from its request template; the secret is on no page', async () => {
    const page = await browser.post('/tools', httpForm());
    expect(page.text).toContain('Tool created.');
    const tool = await newestTool();
    expect(tool.request_template).toEqual({
      method: 'POST',
      url: `${endpoint.url}/orders/{{args.order_number}}`,
      query: { limit: '10' },
      headers: { Authorization: 'Bearer {{secrets.API_TOKEN}}', 'X-Call': '{{call.id}}' },
      body: { order: '{{args.order_number}}' },
      response_fields: ['status'],
    });
    expect(tool.secret_names).toEqual(['API_TOKEN']);
    const edit = await browser.get(`/tools/${tool.id}/edit`);
    expect(edit.value('s0_name')).toBe('API_TOKEN');
    expect(edit.text).toContain('{{secrets.API_TOKEN}}');
    for (const each of [page, edit]) expect(each.html).not.toContain('super-secret-value-1');
  });

  type Fields = Record<string, string>;
  const expectRefused = async (form: Fields, field: string, words: RegExp) => {
    const page = await browser.post('/tools', form);
    expect(page.status).toBe(400);
    expect(page.problem(field)).toMatch(words);
    expect(page.value('name')).toBe(form.name);
    expect(page.html).not.toContain('super-secret-value-1');
    expect(await newestTool()).toBeUndefined();
  };
  const asJson = (parameters: string) => ({ parameters_as: 'json', parameters });

  it.each<[Fields, string, RegExp]>([
    [{ name: 'Find Order' }, 'name', /^The name must begin with a lower-case letter/],
    [{ description: ' ' }, 'description', /^The description must not be empty/],
    [
      { example_phrases: `a\n${'b'.repeat(201)}` },
      'example_phrases',
      /^Line 2 must have at most 200 characters/,
    ],
    [
      { example_phrases: `a\n\n\n${'b'.repeat(201)}` },
      'example_phrases',
      /^Line 4 must have at most 200 characters/,
    ],
    [{ endpoint: '' }, 'endpoint', /^Enter the https:\/\/ URL/],
    [{ endpoint: 'http://example.com/x' }, 'endpoint', /must begin with https/],
    [{ endpoint: 'https://10.0.0.1/x' }, 'endpoint', /^The endpoint cannot be used/],
    [{ timeout: '0' }, 'timeout', /^The timeout must be from 1 to 120/],
    [{ p0_name: '' }, 'p0_name', /^Give the parameter a name/],
    [row(1, { name: 'order_number' }), 'p1_name', /already/],
    [asJson('{'), 'parameters', /not valid JSON/],
    [
      asJson('{"type":"object","properties":{"x":{"type":"text"}}}'),
      'parameters',
      /^“properties.x.type” must/,
    ],
  ])('says beside the field what is wrong: %j', (wrong, field, words) =>
    expectRefused(webhookForm(wrong), field, words),
  );

  it.each([
    ['date', 'a', /^Only texts and numbers/],
    ['number', '1, big', /numbers/],
    ['number', '1, Infinity', /numbers/],
    ['integer', '1, 1.5', /whole numbers/],
  ])('says beside the options of a parameter what is wrong: %s %s', (type, options, words) =>
    expectRefused(webhookForm(row(1, { name: 'size', type, options })), 'p1_options', words),
  );

  it.each<[Fields, string, RegExp]>([
    [{ url: 'nonsense' }, 'url', /^The URL must be an absolute address/],
    [{ url: 'https://api.example.com/{{args.y}}' }, 'url', /^The URL holds {{args.y}}/],
    [{ headers: 'Authorization' }, 'headers', /has no : after a name/],
    [{ headers: ' : x' }, 'headers', /^“: x” has no : after a name/],
    [
      { headers: 'Authorization: {{secrets.OTHER}}' },
      'headers',
      /^“Authorization” holds {{secrets.OTHER}}, but there is no secret/,
    ],
    [
      { query: 'key={{secrets.API_TOKEN}}' },
      'query',
      /^“key” holds {{secrets.API_TOKEN}}; secrets may stand in headers only/,
    ],
    [{ body: '{"a": {{args.order_number}}}' }, 'body', /not valid JSON/],
    [{ method: 'GET' }, 'body', /^The body cannot be sent with GET/],
    [{ response_fields: 'a..b' }, 'response_fields', /must be a path/],
    [{ s0_name: '' }, 's0_name', /^Give the secret a name/],
    [{ s0_name: 'a-b' }, 's0_name', /^Use letters, digits and _/],
    [{ s0_value: '' }, 's0_value', /^Enter a value/],
    [{ s1_name: 'API_TOKEN', s1_value: 'x' }, 's1_name', /^API_TOKEN is listed twice/],
  ])('says beside the field what is wrong in a request template: %j', (wrong, field, words) =>
    expectRefused(httpForm(wrong), field, words),
  );

  it('refuses a name that is taken', async () => {
    const form = webhookForm();
    await create(form);
    const page = await browser.post('/tools', { ...webhookForm(), name: form.name! });
    expect(page.problem('name')).toContain('Another tool is already named');
  });

  it('adds and removes rows, and turns fields into JSON Schema and back, without a script', async () => {
    const added = await browser.post('/tools', { ...webhookForm(), do: 'add-parameter' });
    expect(added.status).toBe(200);
    expect(added.value('p0_name')).toBe('order_number');
    expect(added.html).toContain('name="p1_name"');
    const removed = await browser.post('/tools', {
      ...webhookForm(),
      ...row(1, { name: 'carrier' }),
      do: 'remove-parameter:0',
    });
    expect(removed.value('p0_name')).toBe('carrier');
    expect(removed.html).not.toContain('name="p1_name"');
    const json = await browser.post('/tools', { ...webhookForm(), closed: 'on', do: 'to-json' });
    expect(json.text).toContain('"additionalProperties": false');
    const schema =
      '{"type":"object","properties":{"day":{"type":"string","format":"date"}},"additionalProperties":false}';
    const fields = await browser.post('/tools', {
      ...webhookForm(),
      parameters_as: 'json',
      parameters: schema,
      do: 'to-fields',
    });
    expect(fields.value('p0_name')).toBe('day');
    expect(fields.html).toMatch(/name="closed" checked/);
    const kept = await browser.post('/tools', {
      ...webhookForm(),
      parameters_as: 'json',
      parameters: '{"type":"object","properties":{"a":{"type":"object"}}}',
      do: 'to-fields',
    });
    expect(kept.problem('parameters')).toContain('does not fit into fields');
    const secret = await browser.post('/tools', { ...httpForm(), do: 'add-secret' });
    expect(secret.html).toContain('name="s1_name"');
    expect(secret.html).not.toContain('super-secret-value-1');
    expect(await newestTool()).toBeUndefined();
  });
});

describe('changing a tool', () => {
  it('keeps a tool live, and its stored secrets, when the saved definition makes the same call', async () => {
    endpoint.answerAlways('/orders/7', { json: { status: 'ok' } });
    const tool = await create(httpForm());
    await testCall(tool);
    await browser.post(`/tools/${tool.id}/go-live`);
    const page = await browser.post(`/tools/${tool.id}`, {
      ...httpForm(),
      name: tool.name,
      s0_stored: 'on',
      s0_value: '',
      description: 'Another.',
      timeout: '3',
    });
    expect(page.text).toContain('Saved.');
    expect(await newestTool()).toMatchObject({
      status: 'live',
      description: 'Another.',
      timeout: 3,
      secret_names: ['API_TOKEN'],
    });
  });

  it('keeps a live HTTP tool live, with a secret that its request does not use', async () => {
    endpoint.answerAlways('/orders/7', { json: { status: 'ok' } });
    const unused = { s1_name: 'UNUSED', s1_value: 'unused-secret-value' };
    const form = httpForm({ ...unused, method: 'POST', response_fields: '' });
    const tool = await create(form);
    await testCall(tool);
    await browser.post(`/tools/${tool.id}/go-live`);
    const stored = { s0_stored: 'on', s0_value: '', s1_stored: 'on', s1_value: '' };
    await browser.post(`/tools/${tool.id}`, { ...form, ...stored, description: 'Another.' });
    expect(await newestTool()).toMatchObject({
      status: 'live',
      description: 'Another.',
      secret_names: ['API_TOKEN', 'UNUSED'],
    });
  });

  it.each([
    ['endpoint', /^Enter the https:\/\/ URL/],
    ['timeout', /^The timeout must be from 1 to 120/],
  ])('says that the %s is missing instead of keeping the old one', async (field, words) => {
    const form = webhookForm();
    const tool = await create(form);
    const page = await browser.post(`/tools/${tool.id}`, { ...form, [field]: '' });
    expect(page.problem(field)).toMatch(words);
  });

  it('asks for the stored secrets again when the request goes to another place', async () => {
    const tool = await create(httpForm());
    const moved = {
      ...httpForm(),
      name: tool.name,
      url: endpoint.url.replace('localhost', '127.0.0.1') + '/orders',
      s0_stored: 'on',
      s0_value: '',
    };
    expect((await browser.get(`/tools/${tool.id}/edit`)).text).toContain(
      'if one of these changes, enter the secrets that the request uses again',
    );
    const refused = await browser.post(`/tools/${tool.id}`, moved);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(
      /The secrets API_TOKEN must be given again: the request goes to https:\/\/127\.0\.0\.1:\d+ now/,
    );
    expect(refused.value('s0_stored')).toBe('on');
    expect((await newestTool()).request_template.url).toBe(tool.request_template.url);
    expect(
      (await browser.post(`/tools/${tool.id}`, { ...moved, s0_value: 'given-once-more' })).status,
    ).toBe(200);
    expect(await newestTool()).toMatchObject({ status: 'draft', secret_names: ['API_TOKEN'] });
  });

  it('makes the tool a draft, and says so, when the saved definition makes another call', async () => {
    const tool = await create(webhookForm());
    await testCall(tool);
    const page = await browser.post(`/tools/${tool.id}`, {
      ...webhookForm(),
      name: tool.name,
      endpoint: `${endpoint.url}/other`,
    });
    expect(page.text).toContain('The tool is a draft again because its definition changed.');
    expect(await newestTool()).toMatchObject({
      status: 'draft',
      tested_at: null,
      endpoint: `${endpoint.url}/other`,
    });
  });

  const createByApi = async (parameters: object) => {
    const { body } = await service.api.post('/api/tools', {
      name: newName(),
      description: 'Ships.',
      kind: 'Webhook',
      endpoint: `${endpoint.url}/x`,
      parameters,
    });
    return body;
  };
  const save = (tool: { id: string; name: string }, changes: Record<string, string>) =>
    browser.post(`/tools/${tool.id}`, {
      name: tool.name,
      description: 'Ships.',
      timeout: '10',
      endpoint: `${endpoint.url}/x`,
      ...changes,
    });

  it.each<[string, object]>([
    ['an object', { type: 'object', properties: { city: { type: 'string' } } }],
    ['a description of two lines', { type: 'string', description: 'Street\nand city' }],
    ['blanks around a description', { type: 'string', description: ' Street ' }],
    ['an option of two lines', { type: 'string', enum: ['Main\nStreet', 'Side Street'] }],
    ['blanks around an option', { type: 'string', enum: ['Main Street', ' Side Street'] }],
  ])(
    'shows parameters as JSON when they do not fit into fields, and an unchanged save changes nothing: %s',
    async (_what, address) => {
      const parameters = { type: 'object', properties: { address } };
      const made = await createByApi(parameters);
      const edit = await browser.get(`/tools/${made.id}/edit`);
      expect(edit.value('parameters_as')).toBe('json');
      const written = /<textarea[^>]*name="parameters"[^>]*>(.*?)<\/textarea>/s
        .exec(edit.html)![1]!
        .replaceAll('&quot;', '"');
      await save(made, { parameters_as: 'json', parameters: written });
      expect((await newestTool()).parameters).toEqual(parameters);
    },
  );

  it('keeps a tool tested when its parameters come back in another order', async () => {
    const parameters = {
      required: ['b', 'a'],
      additionalProperties: false,
      properties: { a: { type: 'string' }, b: { description: 'B', type: 'number' } },
      type: 'object',
    };
    const made = await createByApi(parameters);
    await service.api.post(`/api/tools/${made.id}/test`, { arguments: { a: '1', b: 2 } });
    const rows = {
      ...row(0, { name: 'a', required: 'on' }),
      ...row(1, { name: 'b', type: 'number', description: 'B', required: 'on' }),
    };
    await save(made, { description: 'Sends.', parameters_as: 'fields', closed: 'on', ...rows });
    expect(await newestTool()).toMatchObject({
      description: 'Sends.',
      tested_at: expect.any(String),
      parameters,
    });
  });

  it('leads to the tool when the address that a form was sent to is opened, and to the list once the tool is removed', async () => {
    const tool = await create(webhookForm());
    for (const action of ['test', 'rotate-secret', 'go-live'])
      expect((await browser.get(`/tools/${tool.id}/${action}`)).path).toBe(`/tools/${tool.id}`);
    await service.api.delete(`/api/tools/${tool.id}`);
    const gone = await browser.get(`/tools/${tool.id}/fragment`);
    expect([gone.status, gone.headers.get('hx-redirect')]).toEqual([
      204,
      '/tools?notice=tool-removed',
    ]);
  });

  it('rotates the signing secret, which is shown once, and removes the tool', async () => {
    const tool = await create(webhookForm());
    const rotated = await browser.post(`/tools/${tool.id}/rotate-secret`);
    const [secret] = /whsec_[\w+/=]+/.exec(rotated.html)!;
    endpoint.verify('/orders', secret);
    await testCall(tool);
    expect(endpoint.faults).toEqual([]);
    const detail = await browser.get(`/tools/${tool.id}`);
    expect(detail.html).toMatch(/data-confirm="Remove /);
    expect(detail.html).not.toContain(secret);
    const list = await browser.post(`/tools/${tool.id}/remove`);
    expect(list.text).toContain('Tool removed.');
    expect((await browser.get(`/tools/${tool.id}`)).status).toBe(404);
  });
});
