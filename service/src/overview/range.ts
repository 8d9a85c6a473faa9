import { hourOf } from '../platform/counting/count.ts';
import { dayInZone } from '../platform/html/readerZone.ts';
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
export const slotTitle = ({ period }: Range, timeZone: string): string =>
  `${period === 'hour' ? 'Hour' : 'Day'} (${zoneName(timeZone)})`;

/** `America/New York` */
export const zoneName = (timeZone: string): string => timeZone.replaceAll('_', ' ');

const MS: Record<Period, number> = { hour: 3_600_000, day: 86_400_000 };

/**
 * The hours or days of a range, the oldest first: hours of UTC (`2026-11-21T10`), or days of the
 * time zone (`2026-11-21`).
 */
export function slotsOf({ period, slots }: Range, now: Date, timeZone: string): readonly string[] {
  const today = new Date(dayInZone(now.toISOString(), timeZone));
  const last = period === 'hour' ? now : today;
  return Array.from({ length: slots }, (_, at) => slotBefore(period, last, slots - 1 - at));
}

/**
 * The day that an hour belongs to: the day in which the hour begins. Hours are those of UTC, so in
 * a zone that is off by 30 or 45 minutes, a day begins within an hour. All of that hour belongs to
 * the day before; otherwise the running hour could belong to a day that has not begun.
 * @param hour in UTC: `2026-11-21T10`
 */
export const dayOfHour = (hour: string, timeZone: string): string =>
  dayInZone(`${hour}:00Z`, timeZone);

/** The hour or day of UTC that is `distance` hours or days before `now`. */
export const slotBefore = (period: Period, now: Date, distance: number): string =>
  startOf(period, hourOf(new Date(now.getTime() - distance * MS[period])));
