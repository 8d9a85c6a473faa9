import { describe, expect, it } from '@jest/globals';
import type { Page } from '../../../helpers/browserless.ts';
import { ask, body, callIn } from '../../../helpers/toolEndpoint.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  browser,
  create,
  HOSTILE,
  httpForm,
  newName,
  newestTool,
  row,
  signIn,
  testCall,
  useToolScreens,
  webhookForm,
} from './toolScreens.ts';
import { endpoint, service } from '../toolService.ts';

useToolScreens();

describe('a test call', () => {
  it('shows the request without its secret, and the answer, and lets the tool go live', async () => {
    endpoint.answerAlways('/orders/A-1', { json: { status: 'shipped', other: 1 } });
    const tool = await create(httpForm());
    const before = await browser.get(`/tools/${tool.id}`);
    expect(before.html).toMatch(/<button id="go-live" disabled/);
    expect(before.text).toContain('To go live, run a successful test call first.');
    const refused = await browser.post(`/tools/${tool.id}/go-live`);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('The tool did not go live. Run a successful test call first.');

    const page = await testCall(tool, { a_order_number: 'A-1' });
    expect(page.text).toContain(`POST ${endpoint.url}/orders/A-1?limit=10`);
    expect(page.text).toContain('authorization: Bearer [secret]');
    expect(page.text).toContain('{"order":"A-1"}');
    expect(page.text).toMatch(/x-call: call_/);
    expect(page.text).toContain('HTTP 200, 1 attempt');
    expect(page.text).toContain('"status": "shipped"');
    expect(page.text).not.toContain('"other"');
    expect(page.html).not.toContain('super-secret-value-1');
    expect(page.value('a_order_number')).toBe('A-1');
    expect(endpoint.at('/orders/A-1').at(-1)!.headers.authorization).toBe(
      'Bearer super-secret-value-1',
    );

    const live = await browser.post(`/tools/${tool.id}/go-live`);
    expect(live.text).toContain('The tool is live');
    expect(live.text).toContain('The agent is off now, so it calls no tool. Turn it on');
    expect(live.html).toContain('href="/agent">Turn it on');
    expect((await browser.get('/tools')).text).toContain('The agent is off now');
    const paused = await browser.post(`/tools/${tool.id}/pause`);
    expect(paused.text).toContain('Tool paused.');
    expect(paused.html).toMatch(/<button id="go-live">/);
  });

  it('shows that a Webhook call was signed, but not the signatures', async () => {
    const tool = await create(webhookForm());
    const page = await testCall(tool, { a_order_number: 'A-1' });
    expect(page.text).toMatch(/x-service-signature: t=\d+,v1=… /);
    expect(page.text).toMatch(/webhook-signature: v1,… /);
    expect(page.html).not.toMatch(/[0-9a-f]{64}/);
    expect(page.text).toContain('"conversation_id":"conv_test"');
    await browser.post(`/tools/${tool.id}`, {
      ...webhookForm(),
      name: tool.name,
      endpoint: `${endpoint.url}/other`,
    });
    expect((await browser.get(page.path)).text).toContain(
      'The tool has changed since this call, so its request cannot be shown.',
    );
  });

  it('says why it failed, and that the tool cannot go live for that reason', async () => {
    endpoint.answerAlways(
      '/orders/404',
      body(`not found ${HOSTILE}`, { 'content-type': 'text/plain' }, 404),
    );
    const tool = await create(httpForm());
    const page = await testCall(tool, { a_order_number: '404' });
    expect(page.text).toContain('HTTP 404, 1 attempt');
    expect(page.text).toContain('The endpoint answered 404: not found <script>alert(1)</script>');
    expect(page.text).toContain('You can’t go live because the last test call failed');
    expect(page.html).not.toContain('<script>alert');
    expect((await browser.get('/tools')).text).toMatch(/failed now/);
  });

  it('has a field for each type, sends typed values, and says beside the field what does not fit', async () => {
    const rows: Record<string, string>[] = [
      { name: 'count', type: 'integer', required: 'on' },
      { name: 'express', type: 'boolean', description: 'Whether it is in a hurry' },
      { name: 'tags', type: 'list' },
      { name: 'day', type: 'date' },
      { name: 'from', type: 'time' },
      { name: 'size', type: 'number', options: '1, 2.5' },
      { name: 'constructor' },
    ];
    const tool = await create(
      webhookForm(Object.assign({}, ...rows.map((each, number) => row(number, each)))),
    );
    const empty = await browser.get(`/tools/${tool.id}`);
    expect(empty.html).not.toContain('native code');
    expect(empty.text).toContain('Whether it is in a hurry');
    endpoint.forget();
    const page = await testCall(tool, {
      a_count: '3',
      a_express: 'false',
      a_tags: 'a\r\nb',
      a_day: '',
      a_from: ' 2026-11-21T10:00:00Z ',
      a_size: '2.5',
    });
    expect(page.status).toBe(200);
    expect(endpoint.envelopes('/orders').at(-1).arguments).toEqual({
      count: 3,
      express: false,
      tags: ['a', 'b'],
      from: '2026-11-21T10:00:00Z',
      size: 2.5,
    });
    const missing = await testCall(tool, {});
    expect(missing.status).toBe(400);
    expect(missing.problem('a_count')).toBe('“count” is missing.');
    const wrong = await testCall(tool, { a_count: '3', a_day: 'soon' });
    expect(wrong.problem('a_day')).toMatch(/^“day” must have the format date/);
    expect(wrong.value('a_day')).toBe('soon');
  });

  it.each([
    ['order_number', 'two\nlines'],
    ['order_number', ' '],
    ['tags', ['one\nitem']],
    ['tags', []],
  ])('shows arguments that a field would change as JSON: %s %j', async (name, value) => {
    const tool = await create(webhookForm(row(1, { name: 'tags', type: 'list' })));
    const args = { order_number: '7', [name]: value };
    const { body: call } = await service.api.post(`/api/tools/${tool.id}/test`, {
      arguments: args,
    });
    const page = await browser.get(`/tools/${tool.id}?call=${call.tool_call_id}`);
    expect(page.value('arguments_as')).toBe('json');
  });

  it('takes JSON too', async () => {
    const tool = await create(webhookForm());
    expect((await browser.get(`/tools/${tool.id}?as=json`)).html).toContain('name="arguments"');
    const send = (args: string) =>
      browser.post(`/tools/${tool.id}/test`, { arguments_as: 'json', arguments: args });
    expect((await send('{"order_number":"A-9"}')).text).toContain('succeeded');
    for (const [wrong, words] of [
      ['{', /not valid JSON/],
      ['[]', /Enter an object/],
      ['{"order_number":1}', /must be a string/],
    ] as const)
      expect((await send(wrong)).problem('arguments')).toMatch(words);
  });
});

describe('the pages of tools', () => {
  it('name each state, and follow changes', async () => {
    const tool = await create(webhookForm());
    const states = async () => (await browser.get('/tools/fragment')).text;
    expect(await states()).toMatch(/Draft never/);
    await testCall(tool, { a_order_number: '1' });
    expect(await states()).toMatch(/Tested succeeded now/);
    await browser.post(`/tools/${tool.id}/go-live`);
    expect(await states()).toMatch(/Live/);
    expect((await browser.get(`/tools/${tool.id}/fragment`)).html).toContain('id="tool-state"');
    const going = await create(webhookForm({ endpoint: `${endpoint.url}/warming` }));
    endpoint.answerAlways('/warming', 503);
    await service.api.post(`/api/tools/${going.id}/go-live`, { arguments: { order_number: '1' } });
    expect((await browser.get(`/tools/${going.id}`)).text).toContain('Going live');
    await browser.post(`/tools/${going.id}/pause`);
    expect((await browser.get(`/tools/${going.id}`)).text).not.toContain('Going live');
  });

  it('name the workflow that published a tool, and say what to do when its test call fails', async () => {
    const name = newName();
    endpoint.answerAlways('/published', 422);
    await service.api.put(`/api/tools/published/${name}`, {
      definition: { description: 'Finds an order.', endpoint: `${endpoint.url}/published` },
      owner: {
        instance_id: 'instance-1',
        workflow_id: 'workflow-1',
        workflow_name: HOSTILE,
        node_id: 'node-1',
        host: 'n8n.example.com',
      },
    });
    const { id } = await newestTool();
    const page = await waitFor('the end of the test call', async () => {
      const shown = await browser.get(`/tools/${id}`);
      return shown.text.includes('The endpoint answered 422') && shown;
    });
    expect(page.text).toContain('of the n8n at n8n.example.com');
    expect(page.text).toContain('Correct the workflow or its sample arguments, then publish it');
    expect(page.html).not.toContain('<script>alert');
  });

  it('show the agent’s calls, with their result as text and a link to the conversation', async () => {
    endpoint.answerAlways('/orders', { json: { status: HOSTILE } });
    const tool = await create(webhookForm({ read_only: 'on' }));
    await testCall(tool, { a_order_number: '1' });
    await browser.post(`/tools/${tool.id}/go-live`);
    await browser.post('/agent/switch', { enabled: 'on' });
    const { conversationId } = await ask(service.url, tool, 'A-1042');
    await callIn(service.api, `conversation_id=${conversationId}`, 'succeeded');
    const page = await browser.get(`/tools/${tool.id}`);
    expect(page.text).toContain('by the agent');
    expect(page.html).toContain(`href="/conversations/${conversationId}"`);
    expect(page.html).toContain('&lt;script>');
    expect(page.html).not.toContain('<script>alert');
    endpoint.answerAlways('/orders', { json: { ok: true } });
  });

  it('show hostile and long texts as text', async () => {
    const long = 'x'.repeat(900);
    const tool = await create(
      webhookForm({
        description: `${HOSTILE} ${long}`,
        ...row(1, { name: 'b', description: HOSTILE, options: HOSTILE }),
      }),
    );
    for (const path of ['/tools', `/tools/${tool.id}`, `/tools/${tool.id}/edit`]) {
      const page = await browser.get(path);
      expect(page.html).not.toMatch(/<script>|<img src=x/);
      expect(page.text).toContain('<script>alert(1)</script>');
    }
    const refused = await browser.post(
      '/tools',
      webhookForm({ name: HOSTILE, description: 'x'.repeat(10_000), endpoint: HOSTILE }),
    );
    expect(refused.status).toBe(400);
    expect(refused.html).not.toMatch(/<script>|<img src=x/);
    expect(refused.value('name')).toBe(HOSTILE);
  });

  it('cut a large result', async () => {
    endpoint.answerAlways('/orders', {
      json: { items: Array.from({ length: 20_000 }, (_, number) => ({ number, text: 'lamp' })) },
    });
    const tool = await create(webhookForm({ timeout: '5' }));
    const page = await testCall(tool, { a_order_number: '1' });
    expect(page.text).toContain('succeeded');
    expect(page.html.length).toBeLessThan(100_000);
    endpoint.answerAlways('/orders', { json: { ok: true } });
  });
});

describe('another workspace', () => {
  it('has tools and calls that are not found here', async () => {
    const otherWorkspace = await service.addWorkspace('Other');
    const mine = await signIn();
    const { body: tool } = await otherWorkspace.post('/api/tools', {
      name: 'theirs',
      description: 'x',
      kind: 'Webhook',
      endpoint: `${endpoint.url}/orders`,
    });
    const { body: call } = await otherWorkspace.post(`/api/tools/${tool.id}/test`, {
      arguments: {},
    });
    const own = await create(webhookForm());
    const answers: Page[] = [];
    for (const path of ['', '/edit']) answers.push(await mine.get(`/tools/${tool.id}${path}`));
    for (const path of ['', '/test', '/go-live', '/pause', '/rotate-secret', '/remove'])
      answers.push(await mine.post(`/tools/${tool.id}${path}`, webhookForm()));
    answers.push(await mine.get(`/tools/${own.id}?call=${call.tool_call_id}`));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    const fragment = await mine.get(`/tools/${tool.id}/fragment`);
    expect([fragment.status, fragment.text]).toEqual([204, '']);
    expect((await mine.get('/tools')).text).not.toContain('theirs');
    expect((await otherWorkspace.get(`/api/tools/${tool.id}`)).status).toBe(200);
  });
});
