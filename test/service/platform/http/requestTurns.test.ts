// What one workspace asks for with hundreds of connections does not hold up the others.
import { describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { setImmediate as nextRound } from 'node:timers/promises';
import { RequestTurns } from '../../../../service/src/platform/http/server/requestTurns.ts';
import type { BoundName } from '../../../../service/src/platform/limits/bounds.ts';
import { startTestService } from '../../../helpers/service.ts';

/**
 * Requests named `workspace-number`, and the order in which they begin.
 * @param costMs how long each request holds the event loop
 */
function stage({ maxWaiting, costMs = 10 }: { maxWaiting?: number; costMs?: number } = {}) {
  let now = 0;
  const reached: BoundName[] = [];
  const begun: string[] = [];
  const turns = new RequestTurns(
    { reached: (bound) => void reached.push(bound) },
    { ...(maxWaiting === undefined ? {} : { maxWaiting }), now: () => now },
  );
  const inTurn = turns.inTurn((_request, { locals }) => locals.workspace as string);
  const ask = (name: string): { destroyed: boolean } => {
    const response = { destroyed: false, locals: { workspace: name.split('-')[0] } };
    inTurn({} as Request, response as unknown as Response, () => {
      begun.push(name);
      now += costMs;
    });
    return response;
  };
  const rounds = async (count: number) => {
    for (let n = 0; n < count; n += 1) await nextRound();
  };
  return { reached, begun, ask, rounds };
}

describe('requests', () => {
  it('begin as they come while they cost little', () => {
    const { begun, ask } = stage({ costMs: 0.1 });
    for (let n = 1; n <= 40; n += 1) ask(`many-${n}`);
    expect(begun).toHaveLength(40);
  });

  it('that cost much begin one per round of the event loop, each workspace in turn', async () => {
    const { begun, ask, rounds } = stage();
    for (let n = 1; n <= 6; n += 1) ask(`many-${n}`);
    for (let n = 1; n <= 2; n += 1) ask(`few-${n}`);
    expect(begun).toEqual(['many-1']);
    await rounds(20);
    expect(begun.join(' ')).toBe('many-1 many-2 few-1 many-3 few-2 many-4 many-5 many-6');
    ask('few-3');
    expect(begun.at(-1)).toBe('few-3');
  });

  it('that nobody waits for any more are left out', async () => {
    const { begun, ask, rounds } = stage();
    const asked = [1, 2, 3, 4].map((n) => ask(`many-${n}`));
    asked[1]!.destroyed = asked[2]!.destroyed = true;
    await rounds(10);
    expect(begun).toEqual(['many-1', 'many-4']);
  });

  it('are refused when too many of their workspace wait; those of others are not', async () => {
    const { begun, reached, ask, rounds } = stage({ maxWaiting: 3 });
    for (let n = 1; n <= 4; n += 1) ask(`many-${n}`);
    expect(() => ask('many-5')).toThrow('3 requests of this workspace are waiting already');
    expect(reached).toEqual(['workspace_turns']);
    ask('few-1');
    await rounds(10);
    expect(begun).toHaveLength(5);
  });
});

describe('a page of large items', () => {
  it('ends early, and the pages together hold everything', async () => {
    const service = await startTestService();
    try {
      const text = 'x'.repeat(31_000);
      const properties = { a: { type: 'string', description: text } };
      const tool = {
        description: 'Books a table.',
        kind: 'HTTP',
        parameters: { type: 'object', properties },
        request_template: { method: 'POST', url: 'https://127.0.0.1:9/', body: { text } },
      };
      const names = Array.from({ length: 24 }, (_, n) => `tool_${n}`);
      for (const name of names) await service.api.post('/api/tools', { name, ...tool });
      const seen: string[] = [];
      let cursor: string | null = null;
      let pages = 0;
      do {
        const { body } = await service.api.get(
          `/api/tools?limit=200${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        expect(JSON.stringify(body).length).toBeLessThan(600_000);
        seen.push(...body.data.map(({ name }: { name: string }) => name));
        cursor = body.next_cursor;
        pages += 1;
      } while (cursor !== null);
      expect(seen).toEqual(names.toReversed());
      expect(pages).toBe(3);
    } finally {
      await service.stop();
    }
  });
});
