// Attacks 3, 9 and 12: a tenant's tools.
import { describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../helpers/apiClient.ts';
import { TOOL_TEST_ENV, jsonOf, makeLive, type Answer } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { sized } from './size.ts';
import { onStage } from './stage.ts';

const MIB = 1024 * 1024;

describe('3: a live tool with patterns that are slow to match', () => {
  it('and one message hold up nobody', () =>
    onStage({ env: TOOL_TEST_ENV }, async (stage) => {
      const { hostile } = stage.tenants;
      // The event loop stood still for 227 s with counts of 900 and a message of 4,000 characters.
      const pattern = `(?:(?:a|b)[ab]?){${sized(300, 900)}}`;
      const properties = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`code_${n}`, { type: 'string', pattern: `${pattern}${n}` }]));
      const tool = await stage.endpoint.define(hostile.api, { name: 'check_codes', parameters: { type: 'object', properties, required: [] } });
      await makeLive(hostile.api, tool);
      await stage.attackBy('3: a message to a tool with slow patterns', async () => {
        const customer = await chatCustomer(stage.service.url, { workspace: hostile.slug });
        await customer.write(`check codes ${'ab'.repeat(1900)}`);
        await waitFor('an answer of the agent', async () => (await customer.read()).some(({ from }) => from !== 'customer'), { timeoutMs: 250_000, everyMs: 200 });
        return { messages: 1 };
      });
      await stage.settle();
    }));
});

describe('9: slow tools', () => {
  it('of one tenant leave places for the calls of another, which come first', () =>
    onStage({}, async (stage) => {
      const { hostile } = stage.tenants;
      const slowMs = sized(2000, 5000);
      const slow: Answer = (_request, response) => void setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'), slowMs);
      const tools = await Promise.all(
        Array.from({ length: 8 }, async (_, n) => {
          stage.endpoint.answerAlways(`/slow_${n}`, slow);
          return stage.endpoint.define(hostile.api, { name: `slow_${n}` });
        }),
      );
      const calls = sized(400, 800);
      const counts = await stage.attack(`9: ${calls} calls of eight tools that take ${slowMs / 1000} s each`, 'testCalls', {
        key: hostile.key,
        tools: tools.map(({ id }) => id),
        calls,
        connections: calls,
        seconds: 120,
      });
      expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(calls);
      const order = stage.endpoint.requests.map(({ path }) => path);
      const [firstSlow, lastSlow] = [order.findIndex((path) => path.startsWith('/slow_')), order.findLastIndex((path) => path.startsWith('/slow_'))];
      // Calls of the other tenant went out while this one still had some waiting.
      expect(order.slice(firstSlow, lastSlow).filter((path) => path === '/honest_tool').length).toBeGreaterThan(2);
      await stage.settle();
    }));
});

describe('12: large results', () => {
  it('of one workspace leave those of another whole', () =>
    onStage({}, async (stage) => {
      const { honest, hostile } = stage.tenants;
      const large: Answer = (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(jsonOf(MIB - 1024));
      stage.endpoint.answerAlways('/large', large);
      const [own, theirs] = [await stage.endpoint.define(honest.api, { name: 'large' }), await stage.endpoint.define(hostile.api, { name: 'large' })];
      const { body: kept } = await honest.api.post(`/api/tools/${own.id}/test`, { arguments: {} });
      const calls = sized(60, 150);
      await stage.attack(`12: ${calls} results of 1 MiB`, 'testCalls', { key: hostile.key, tools: [theirs.id], calls, connections: 4, seconds: 120 });
      const { body: now } = await honest.api.get(`/api/tool-calls/${kept.tool_call_id}`);
      expect((now.result as string).length).toBe((kept.result as string).length);
      await stage.settle({ mayGrowMiB: 80 });
    }));
});
