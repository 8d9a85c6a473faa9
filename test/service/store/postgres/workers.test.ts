import { beforeEach, describe, expect, it } from '@jest/globals';
import { ReadyGroups } from '../../../../service/src/store/postgres/jobs/readyGroups.ts';
import { Workers } from '../../../../service/src/store/postgres/jobs/workers.ts';

const NAMES = ['one', 'two', 'three'];
const GROUPS = Array.from({ length: 999 }, (_, n) => `ws_1 sub_${n}`);

describe('the process that a group is for', () => {
  let nowMs = 0;
  let processes: Map<string, Workers>;
  beforeEach(() => {
    nowMs = 0;
    processes = new Map(NAMES.map((name) => [name, new Workers(name, () => nowMs)]));
  });
  /** Tells the other processes which queues `from` works on; none: it stops. */
  const announce = (from: string, ...queues: string[]) => {
    for (const [name, workers] of processes) if (name !== from) workers.hear(from, queues);
  };
  const owners = (group: string, queue = 'q') =>
    [...processes].filter(([, workers]) => workers.isMine(queue, group)).map(([name]) => name);

  it('is the only one that works', () => {
    expect(GROUPS.every((group) => processes.get('one')!.isMine('q', group))).toBe(true);
  });

  it('is one of those that work, each for about as many groups', () => {
    for (const name of NAMES) announce(name, 'q');
    const owned = GROUPS.map((group) => owners(group));
    expect(owned.every(({ length }) => length === 1)).toBe(true);
    for (const name of NAMES) {
      const count = owned.filter(([owner]) => owner === name).length;
      expect(count).toBeGreaterThan(250);
      expect(count).toBeLessThan(420);
    }
  });

  it('stays the same when another process stops, except for the groups of that one', () => {
    for (const name of NAMES) announce(name, 'q');
    const before = GROUPS.map((group) => owners(group)[0]);
    announce('three');
    const after = GROUPS.map((group) => owners(group).filter((name) => name !== 'three')[0]);
    for (const [n, owner] of before.entries()) if (owner !== 'three') expect(after[n]).toBe(owner);
  });

  it('is one of those that work on its queue', () => {
    announce('two', 'other');
    announce('three', 'other');
    expect(GROUPS.every((group) => processes.get('one')!.isMine('q', group))).toBe(true);
    const one = processes.get('one')!;
    one.leave('q');
    expect([one.worksOn('q'), one.worksOn('other')]).toEqual([false, true]);
    one.join('q');
    expect(one.worksOn('q')).toBe(true);
  });

  it('is no process that has been silent for five seconds', () => {
    for (const name of NAMES) announce(name, 'q');
    nowMs += 4_999;
    expect(GROUPS.every((group) => owners(group).length === 1)).toBe(true);
    announce('two', 'q');
    nowMs += 2;
    const one = processes.get('one')!;
    const two = processes.get('two')!;
    two.hear('one', ['q']);
    expect(GROUPS.every((group) => one.isMine('q', group) !== two.isMine('q', group))).toBe(true);
  });
});

it('chooses groups for a claim, however many have due jobs', () => {
  const ready = new ReadyGroups(() => true);
  for (let n = 0; n < 150_000; n += 1) ready.add(`ws_1 conv_${n}`);
  const candidates = ready.candidates({ free: 9, heldBy: () => 0 }, () => 1);
  expect(candidates).toHaveLength(100);
});
