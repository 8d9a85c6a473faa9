import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { signatureFault } from '../../helpers/eventReceiver.ts';
import { startModelServer, text, toolCalls } from '../../helpers/modelServer.ts';
import { startTestService } from '../../helpers/service.ts';
import {
  agentSays,
  ask,
  hang,
  makeLive,
  newestCall,
  TOOL_TEST_ENV,
} from '../../helpers/toolEndpoint.ts';
import { endpoint, removeTools, service, useToolService } from './toolService.ts';

const QUESTION = {
  type: 'object',
  properties: { question: { type: 'string' }, amount: { type: 'number' } },
};

describe('what a tool is sent, and the record of it', () => {
  useToolService();
  afterEach(removeTools);

  it('is the envelope of four fields, signed, and nothing else', async () => {
    const { id, secret, path } = await endpoint.define(service.api, {
      name: 'find_order',
      parameters: QUESTION,
    });
    const args = {
      question: 'Grüße, 你好 🎉 "quoted" \u2028 </script>',
      amount: -0.5,
      extra: { deep: [null, true, ''] },
    };
    const { body } = await service.api.post(`/api/tools/${id}/test`, { arguments: args });
    const [request] = endpoint.at(path);
    expect(JSON.parse(request!.rawBody.toString())).toEqual({
      tool_call_id: body.tool_call_id,
      tool: 'find_order',
      arguments: args,
      conversation_id: 'conv_test',
    });
    expect(body.tool_call_id).toMatch(/^call_[0-9A-Z]{26}$/);
    expect(request!.headers).toEqual({
      host: expect.stringMatching(/^localhost:\d+$/),
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(request!.rawBody.length),
      'user-agent': expect.stringMatching(/^conversation-service\//),
      'x-service-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
      'webhook-id': body.tool_call_id,
      'webhook-timestamp': expect.stringMatching(/^\d+$/),
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    expect(signatureFault(request!, secret!)).toBeNull();
    expect(signatureFault(request!, `${secret}x`)).not.toBeNull();
    expect(endpoint.faults).toEqual([]);
  });

  it("is verified by Stripe's SDK and by the standardwebhooks library with their defaults", async () => {
    const { id, secret, path } = await endpoint.define(service.api, { name: 'check_stock' });
    await service.api.post(`/api/tools/${id}/test`, { arguments: { question: 'Grüße 🎉' } });
    const { headers, rawBody } = endpoint.at(path)[0]!;
    const { webhooks: stripe } = new Stripe('sk_test_unused');
    const stripeSignature = String(headers['x-service-signature']);
    const constructed = stripe.constructEvent(rawBody, stripeSignature, secret!) as unknown as {
      tool_call_id: string;
    };
    expect(constructed.tool_call_id).toBe(headers['webhook-id']);
    const standardHeaders = headers as Record<string, string>;
    const verified = new Webhook(secret!).verify(rawBody.toString(), standardHeaders) as {
      tool: string;
    };
    expect(verified.tool).toBe('check_stock');
    const changed = `${rawBody.toString()} `;
    expect(() => stripe.constructEvent(changed, stripeSignature, secret!)).toThrow();
    expect(() => new Webhook(secret!).verify(changed, standardHeaders)).toThrow();
  });

  it('is the same bytes under the same id in each attempt, each signed for its own moment', async () => {
    const { id, path } = await endpoint.define(service.api, { name: 'book_table', timeout: 1 });
    endpoint.answerAlways(path, hang); // each attempt takes a second, so the moments differ
    const startedAt = Date.now();
    const { body } = await service.api.post(`/api/tools/${id}/test`, {
      arguments: { question: 'x' },
    });
    const requests = endpoint.at(path);
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([body.tool_call_id]),
    );
    const times = requests.map(({ headers }) =>
      Number(/t=(\d+)/.exec(String(headers['x-service-signature']))![1]),
    );
    expect(new Set(times).size).toBe(3);
    expect(times).toEqual(times.toSorted());
    expect(times[0]).toBeGreaterThanOrEqual(Math.floor(startedAt / 1000));
    requests.forEach(({ receivedAt }, n) =>
      expect(times[n]).toBeLessThanOrEqual(receivedAt.getTime() / 1000),
    );
    expect(new Set(requests.map(({ headers }) => headers['x-service-signature'])).size).toBe(3);
    expect(endpoint.faults).toEqual([]);
  });

  it('waits between the attempts after a 5xx, longer each time, and not after a time-out', async () => {
    await service.restart({ TOOL_RETRY_DELAYS_MS: '300,600' });
    const { id, path } = await endpoint.define(service.api, { name: 'book_table', timeout: 1 });
    endpoint.answer(path, 500, 500, 200);
    await service.api.post(`/api/tools/${id}/test`, {});
    const [first, second, third] = endpoint
      .at(path)
      .slice(-3)
      .map(({ receivedAt }) => receivedAt.getTime());
    expect(second! - first!).toBeGreaterThanOrEqual(295);
    expect(third! - second!).toBeGreaterThanOrEqual(595);
    await service.restart({ TOOL_RETRY_DELAYS_MS: '20000,20000' });
    endpoint.answer(path, hang, 200);
    await service.api.post(`/api/tools/${id}/test`, {});
    const [hung, next] = endpoint
      .at(path)
      .slice(-2)
      .map(({ receivedAt }) => receivedAt.getTime());
    expect(next! - hung!).toBeLessThan(15_000);
    await service.restart({});
  });

  it('carries the id of its conversation, and the record holds the whole call', async () => {
    const tool = await endpoint.define(
      service.api,
      { name: 'find_order', parameters: QUESTION },
      '/agent',
    );
    await makeLive(service.api, tool);
    endpoint.forget();
    endpoint.answer(tool.path, 502, { json: { message: 'On its way.', steps: [1, 2] } });
    const { customer, conversationId } = await ask(service.url, tool);
    expect(await agentSays(customer)).toBe('On its way.');
    const record = await newestCall(service.api, `conversation_id=${conversationId}`);
    expect(endpoint.envelopes(tool.path)).toEqual(
      Array(2).fill({
        tool_call_id: record.tool_call_id,
        tool: 'find_order',
        arguments: record.arguments,
        conversation_id: conversationId,
      }),
    );
    expect(record).toEqual({
      tool_call_id: expect.stringMatching(/^call_/),
      tool: 'find_order',
      arguments: expect.any(Object),
      conversation_id: conversationId,
      status: 'succeeded',
      attempts: 2,
      http_status: 200,
      duration_ms: expect.any(Number),
      result: { message: 'On its way.', steps: [1, 2] },
      error: null,
      decision: null,
      expires_at: null,
      created_at: expect.stringMatching(/\+00:00$/),
      finished_at: expect.stringMatching(/\+00:00$/),
    });
    expect(endpoint.faults).toEqual([]);
    await service.api.delete(`/api/tools/${tool.id}`);
    expect(await newestCall(service.api, `conversation_id=${conversationId}`)).toEqual(record);
  });

  it('is nothing when a test call has arguments that do not fit', async () => {
    const parameters = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    };
    const { id, path } = await endpoint.define(service.api, { name: 'rent_bicycle', parameters });
    for (const args of [{}, { n: '1' }, { n: 1.5 }, { n: 1, more: 2 }, { n: null }]) {
      for (const verb of ['test', 'go-live']) {
        const { status, body } = await service.api.post(`/api/tools/${id}/${verb}`, {
          arguments: args,
        });
        expect([status, body.error.code, body.error.param]).toEqual([
          400,
          'invalid_request',
          'arguments',
        ]);
      }
    }
    const infinite = await service.api.post(`/api/tools/${id}/test`, '{"arguments":{"n":1e400}}');
    expect([infinite.status, infinite.body.error.param]).toEqual([400, 'arguments']);
    for (const args of [[], 'n=1', null, 5, { n: 1, more: 'x'.repeat(70_000) }]) {
      const { status } = await service.api.post(`/api/tools/${id}/test`, { arguments: args });
      expect(status).toBe(400);
    }
    expect(endpoint.at(path)).toHaveLength(0);
    expect((await service.api.get('/api/tool-calls?tool=rent_bicycle')).body.data).toEqual([]);
  });

  it('is nothing when the agent gives arguments that do not fit', async () => {
    const model = await startModelServer();
    const modelService = await startTestService({
      ca: endpoint.ca,
      env: {
        ...TOOL_TEST_ENV,
        LLM_BASE_URL: model.url,
        LLM_API_KEY: model.apiKey,
        LLM_MODEL: model.model,
      },
    });
    try {
      const parameters = {
        type: 'object',
        properties: { n: { type: 'integer' } },
        required: ['n'],
      };
      const tool = await endpoint.define(modelService.api, { name: 'paint_fence', parameters });
      await makeLive(modelService.api, tool, { n: 1 });
      endpoint.forget();
      model.answerWith(
        toolCalls([
          { name: 'paint_fence', arguments: { n: 'one' } },
          { name: 'no_such_tool', arguments: {} },
        ]),
        toolCalls([{ name: 'paint_fence', arguments: '{"n":1e400}' }]),
        toolCalls([{ name: 'paint_fence', arguments: { n: 2 } }]),
        text('It is painted.'),
      );
      const { customer, conversationId } = await ask(modelService.url, tool);
      expect(await agentSays(customer)).toBe('It is painted.');
      const { data } = (
        await modelService.api.get(`/api/tool-calls?conversation_id=${conversationId}`)
      ).body;
      const refused = {
        status: 'failed',
        attempts: 0,
        http_status: null,
        error: { type: 'invalid_arguments', message: expect.any(String) },
      };
      expect(data.toReversed()).toEqual([
        expect.objectContaining({ tool: 'paint_fence', arguments: { n: 'one' }, ...refused }),
        expect.objectContaining({ tool: 'no_such_tool', ...refused }),
        expect.objectContaining({ tool: 'paint_fence', arguments: {}, ...refused }),
        expect.objectContaining({
          tool: 'paint_fence',
          arguments: { n: 2 },
          status: 'succeeded',
          attempts: 1,
        }),
      ]);
      expect(endpoint.envelopes(tool.path).map((envelope) => envelope.arguments)).toEqual([
        { n: 2 },
      ]);
      expect(model.faults).toEqual([]);
    } finally {
      await modelService.stop();
      await model.close();
    }
  });

  it('is listed by tool, status and conversation, newest first, with long results cut', async () => {
    const { id, path } = await endpoint.define(service.api, { name: 'print_invoice' });
    endpoint.answer(path, { json: { a: 1 } }, 404, { json: 'é'.repeat(10_000) });
    const ids = [];
    for (let n = 0; n < 3; n++)
      ids.unshift((await service.api.post(`/api/tools/${id}/test`, {})).body.tool_call_id);
    const list = async (query: string) => (await service.api.get(`/api/tool-calls?${query}`)).body;
    const idsOf = (page: { data: { tool_call_id: string }[] }) =>
      page.data.map((call) => call.tool_call_id);
    expect(idsOf(await list('tool=print_invoice'))).toEqual(ids);
    expect(idsOf(await list('tool=print_invoice&status=failed'))).toEqual([ids[1]]);
    expect(idsOf(await list('tool=print_invoice&conversation_id=conv_test'))).toEqual(ids);
    expect(idsOf(await list('tool=print_invoice&conversation_id=conv_other'))).toEqual([]);
    const first = await list('tool=print_invoice&limit=2');
    expect([
      ...idsOf(first),
      ...idsOf(await list(`tool=print_invoice&limit=2&cursor=${first.next_cursor}`)),
    ]).toEqual(ids);
    expect(Buffer.byteLength(first.data[0].result)).toBeLessThan(8300);
    expect(first.data[0].result).not.toContain('\ufffd');
    expect((await service.api.get(`/api/tool-calls/${ids[0]}`)).body.result).toBe(
      'é'.repeat(10_000),
    );
    expect((await service.api.get('/api/tool-calls?status=done')).status).toBe(400);
    expect((await service.api.get('/api/tool-calls/call_none')).status).toBe(404);
  });
});
