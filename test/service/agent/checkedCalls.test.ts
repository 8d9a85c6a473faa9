// What a model wants a tool called with is checked on the workspace's share of the event loop.
import { describe, expect, it } from '@jest/globals';
import { checkCalls, resolveCall } from '../../../service/src/agent/turn/wantedCall.ts';
import type { LoadedTurn } from '../../../service/src/agent/turn/loadTurn.ts';
import type { Tool } from '../../../service/src/tools/tool.ts';
import { unwatchedBounds } from '../../../service/src/platform/limits/bounds.ts';
import { LoopShare } from '../../../service/src/platform/limits/loopShare.ts';

const PARAMETERS = {
  type: 'object',
  required: ['order'],
  properties: { order: { type: 'string' } },
};

/** A tool as a store reads it each time; it counts how often its parameters are looked at. */
function lookup() {
  const looks = { count: 0 };
  const tool = {
    id: 'tool_1',
    name: 'track',
    kind: 'Webhook',
    status: 'live',
    definitionHash: 'hash',
    askBeforeRunning: false,
    get parameters() {
      looks.count += 1;
      return structuredClone(PARAMETERS);
    },
  } as unknown as Tool;
  return { looks, tool };
}

const turnWith = (tool: Tool) =>
  ({
    workspace: { id: 'w' },
    contact: { phone: '5491155551234', email: null },
    tools: [tool],
  }) as unknown as LoadedTurn;

describe('calls that a model wants', () => {
  it('are checked when the workspace has its turn, and not again when they are recorded', async () => {
    const shown = lookup();
    const share = new LoopShare();
    const order: string[] = [];
    const turn = turnWith(shown.tool);
    const wanted = [
      { tool: 'track', arguments: { order: 'A-1' } },
      { tool: 'track', arguments: {} },
      { tool: 'track', arguments: 'none' },
      { tool: 'unknown', arguments: {} },
    ];
    // The first task of all begins at once. This one is it, so that the checks have to wait.
    const before = share.run('w', () => order.push('before'));
    const checking = checkCalls(turn, wanted, unwatchedBounds, share).then((calls) => {
      order.push('checked');
      return calls;
    });
    expect(shown.looks.count).toBe(0);
    expect(share.waitingOf('w')).toBe(2);
    const beside = share.run('other', () => order.push('another workspace'));
    const calls = await checking;
    await Promise.all([before, beside]);
    expect(order).toEqual(['before', 'another workspace', 'checked']);
    expect(shown.looks.count).toBe(2);

    const stored = lookup();
    const problems = calls.map((call) => {
      const tool = call.tool === 'track' ? stored.tool : null;
      return resolveCall(call, tool, tool ? shown.tool : undefined, turn).problem;
    });
    expect(problems).toEqual([
      null,
      expect.stringMatching(/order/),
      'The arguments are not a JSON object.',
      'There is no such tool. Use one of those that are listed.',
    ]);
    expect(stored.looks.count + shown.looks.count).toBe(2);
  });
});
