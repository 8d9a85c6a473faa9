import type { Deps } from '../platform/deps.ts';
import type { Workspace } from '../team/index.ts';
import { DEFAULT_RANGE } from './range.ts';
import { readCounts } from './readCounts.ts';

/** By subscription or tool: a count for each of the last seven days, the oldest first. */
export type DailyCounts = ReadonlyMap<string, readonly number[]>;

/**
 * Delivery attempts by subscription, or tool calls by tool. Reads the workspace's counters of
 * these days and what was counted since, not one counter for each subscription or tool.
 */
export async function readWeek(
  deps: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  name: 'attempt' | 'tool_call',
): Promise<DailyCounts> {
  const { slots, total } = await readCounts(deps, workspace, DEFAULT_RANGE);
  const days = slots.map(({ counts }) => counts.each(name));
  return new Map(
    [...total.each(name).keys()].map((key) => [key, days.map((day) => day.get(key) ?? 0)]),
  );
}
