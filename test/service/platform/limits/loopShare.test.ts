import { describe, expect, it } from '@jest/globals';
import { checkInTurn } from '../../../../service/src/tools/definition/checkDefinition.ts';
import type { Workspace } from '../../../../service/src/team/workspace.ts';
import type { BoundName } from '../../../../service/src/platform/limits/bounds.ts';
import { LoopShare } from '../../../../service/src/platform/limits/loopShare.ts';

const hold = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

describe('the share of the event loop for work that holds it', () => {
  it('gives each workspace its turn, however much another asks for', async () => {
    const share = new LoopShare();
    const order: string[] = [];
    const asked = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((of) =>
      share.run(of, () => order.push(of)),
    );
    // the first has begun
    expect([share.waitingOf('a'), share.waitingOf('b'), share.waitingOf('d')]).toEqual([3, 2, 0]);
    await Promise.all(asked);
    expect(order.join('')).toBe('aabcaba');
  });

  it('leaves the loop to others between two pieces, for as long as the piece took', async () => {
    const share = new LoopShare();
    const began: number[] = [];
    let rounds = 0;
    let isOver = false;
    (function turn() {
      rounds += 1;
      if (!isOver) setImmediate(turn);
    })();
    await Promise.all(
      Array.from({ length: 4 }, () =>
        share.run('a', () => (began.push(performance.now()), hold(20))),
      ),
    );
    isOver = true;
    // 20 ms of work and 20 ms of rest; timers may come a millisecond early.
    expect(
      Math.min(...began.slice(1).map((at, index) => at - began[index]!)),
    ).toBeGreaterThanOrEqual(38);
    expect(rounds).toBeGreaterThan(4);
  });

  it('passes on the error that the work throws, goes on with the next work, and never begins work that was aborted', async () => {
    const share = new LoopShare();
    const failed = share.run('a', () => {
      throw new Error('no');
    });
    const next = share.run('a', () => 'yes');
    const givenUp = share.run('a', () => 'never', AbortSignal.abort(new Error('too late')));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
    await expect(givenUp).rejects.toThrow('too late');
  });

  it('refuses a workspace that has fifty checks waiting, with 429 and a time to retry, and refuses no other workspace', async () => {
    const reached: BoundName[] = [];
    const bounds = { reached: (bound: BoundName) => void reached.push(bound) };
    const check = (id: string) => checkInTurn({ id } as Workspace, bounds, () => 'done');
    const asked = await Promise.allSettled([
      ...Array.from({ length: 55 }, () => check('one')),
      check('other'),
    ]);
    const refused = asked
      .filter(({ status }) => status === 'rejected')
      .map((each) => (each as PromiseRejectedResult).reason as unknown);
    expect([refused.length, asked.at(-1)!.status, reached]).toEqual([
      4,
      'fulfilled',
      Array.from({ length: 4 }, () => 'workspace_checks'),
    ]);
    expect(refused[0]).toMatchObject({
      code: 'rate_limited',
      message: expect.stringMatching(/Try again in a few seconds/),
    });
  });
});
