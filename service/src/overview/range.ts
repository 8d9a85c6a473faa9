import { hourOf } from '../platform/counting/count.ts';
import { type Period, startOf } from './overviewStore.ts';

export interface Range {
  readonly id: string;
  readonly label: string;
  readonly period: Period;
  /** How many hours or days. The last one is still running. */
  readonly slots: number;
}

export const RANGES = [
  { id: '24h', label: '24 hours', period: 'hour', slots: 24 },
  { id: '7d', label: '7 days', period: 'day', slots: 7 },
  { id: '30d', label: '30 days', period: 'day', slots: 30 },
  { id: '90d', label: '90 days', period: 'day', slots: 90 },
] as const satisfies readonly Range[];

export const DEFAULT_RANGE: Range = RANGES[1];

/** The heading of the hours or days in a table. */
export const slotTitle = ({ period }: Range): string =>
  period === 'hour' ? 'Hour (UTC)' : 'Day (UTC)';

const MS: Record<Period, number> = { hour: 3_600_000, day: 86_400_000 };

/** The hours or days of a range, the oldest first: `2026-11-21T10` or `2026-11-21`, in UTC. */
export const slotsOf = ({ period, slots }: Range, now: Date): readonly string[] =>
  Array.from({ length: slots }, (_, at) => slotBefore(period, now, slots - 1 - at));

/** The hour or day that is so many before the one of `now`. */
export const slotBefore = (period: Period, now: Date, before: number): string =>
  startOf(period, hourOf(new Date(now.getTime() - before * MS[period])));
