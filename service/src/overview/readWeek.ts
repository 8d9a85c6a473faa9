import type { Deps } from '../platform/deps.ts';
import type { Workspace } from '../team/index.ts';
import { DEFAULT_RANGE } from './range.ts';
import { readCounts } from './readCounts.ts';

/** By subscription or tool: how many on each of the last seven days, the oldest first. */
export type WeekOf = ReadonlyMap<string, readonly number[]>;

/**
 * Delivery attempts by subscription, or tool calls by tool. Reads seven counters, however many
 * subscriptions or tools there are.
 */
export async function readWeek(
  deps: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  name: 'attempt' | 'tool_call',
): Promise<WeekOf> {
  const { slots, total } = await readCounts(deps, workspace, DEFAULT_RANGE);
  const days = slots.map(({ counts }) => counts.each(name));
  return new Map(
    [...total.each(name).keys()].map((key) => [key, days.map((day) => day.get(key) ?? 0)]),
  );
}
