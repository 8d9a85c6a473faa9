// Attacks 3, 9 and 12: the tools of a hostile tenant.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../helpers/apiClient.ts';
import { TOOL_TEST_ENV, jsonOf, makeLive, type Answer } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { sized } from './size.ts';
import { onStage } from './stage.ts';

const MIB = 1024 * 1024;

const SLOW_TOOLS = [
  'apples',
  'bananas',
  'cherries',
  'grapes',
  'lemons',
  'melons',
  'peaches',
  'walnuts',
];
/** A tenant alone may have at least so many calls under way. */
const MIN_UNDER_WAY = 64;
/** More than the other tenant's call needs. Before the fix it took longer than this. */
const PATIENCE_MS = 20_000;

describe('3: a message to a live tool with patterns that are slow to match', () => {
  it('leaves every other request answered', () =>
    onStage({ env: TOOL_TEST_ENV }, async (stage) => {
      const { hostile } = stage.tenants;
      // The cost of a pattern counts once, however many arguments have it. Before, it was tried on
      // the text four times for each argument: the event loop stood still for 20 s, and with a
      // longer conversation for 227 s.
      const properties = Object.fromEntries(
        Array.from({ length: 50 }, (_, n) => [
          `part_${n}`,
          { type: 'string', pattern: '(?:(?:a|b)[ab]?){900}' },
        ]),
      );
      const tool = await stage.endpoint.define(hostile.api, {
        name: 'check_codes',
        parameters: { type: 'object', properties },
      });
      await makeLive(hostile.api, tool);
      await stage.attackBy('3: a message to a tool with slow patterns', async () => {
        const customer = await chatCustomer(stage.service.url, { workspace: hostile.slug });
        await customer.write(`check codes ${'ab'.repeat(1900)}`);
        await waitFor(
          'an answer of the agent',
          async () => (await customer.read()).some(({ from }) => from !== 'customer'),
          { timeoutMs: 250_000, everyMs: 200 },
        );
        return { messages: 1 };
      });
      await stage.expectNoHarm();
    }));
});

describe('9: slow tools', () => {
  it('of one tenant leave places for the calls of another', () =>
    onStage({ env: TOOL_TEST_ENV }, async (stage) => {
      const { honest, hostile } = stage.tenants;
      const own = await stage.endpoint.define(honest.api, { name: 'other_tool' });
      // None of them answers before the other tenant's call has ended. When each took 10 s, that
      // call took 117 s.
      let held: (() => void)[] | null = null;
      const slow: Answer = (_request, response) => {
        const answer = () =>
          void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
        if (held === null) answer();
        else held.push(answer);
      };
      const tools = await Promise.all(
        SLOW_TOOLS.map((name) => {
          stage.endpoint.answerAlways(`/${name}`, slow);
          return stage.endpoint.define(hostile.api, { name, timeout: 60 });
        }),
      );
      for (const tool of tools) await makeLive(hostile.api, tool);
      held = [];
      const visitors = sized(200, 400);
      let honestStatus = 'waiting';
      await stage.attack(
        `9: ${visitors} calls, by the agent, of eight tools that do not answer`,
        'askTools',
        { visitors, texts: SLOW_TOOLS, seconds: 90 },
        async (attacker) => {
          const underWay = () => held!.length;
          await waitFor(
            'as many calls under way as there may be',
            async () => {
              const before = underWay();
              if (before < MIN_UNDER_WAY) return false;
              await sleep(1000);
              return underWay() === before;
            },
            { timeoutMs: 60_000 },
          );
          const call = honest.api
            .post(`/api/tools/${own.id}/test`, { arguments: {} })
            .then(({ body }) => body.status as string);
          honestStatus = await Promise.race([call, sleep(PATIENCE_MS, 'waiting')]);
          const answers = held!;
          held = null;
          for (const answer of answers) answer();
          await attacker.stop();
        },
      );
      expect(honestStatus).toBe('succeeded');
      await stage.expectNoHarm();
    }));
});

// The results of one workspace cut those of another: all workspaces shared 48 MiB, and the newest
// results were kept whole.
describe('12: large results', () => {
  it('of one workspace leave those of another whole', () =>
    onStage({}, async (stage) => {
      const { honest, hostile } = stage.tenants;
      const large: Answer = (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(jsonOf(MIB - 1024));
      stage.endpoint.answerAlways('/large', large);
      const [own, theirs] = [
        await stage.endpoint.define(honest.api, { name: 'large' }),
        await stage.endpoint.define(hostile.api, { name: 'large' }),
      ];
      const { body: before } = await honest.api.post(`/api/tools/${own.id}/test`, {
        arguments: {},
      });
      const calls = sized(60, 150);
      await stage.attack(`12: ${calls} results of 1 MiB`, 'requests', {
        requests: [
          {
            path: `/api/tools/${theirs.id}/test`,
            token: hostile.key,
            json: { arguments: {} },
          },
        ],
        count: calls,
        connections: 4,
        seconds: 120,
      });
      const { body: after } = await honest.api.get(`/api/tool-calls/${before.tool_call_id}`);
      expect((after.result as string).length).toBe((before.result as string).length);
      await stage.expectNoHarm({ mayGrowMiB: 80 });
    }));
});
