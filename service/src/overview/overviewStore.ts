import { collection, type Document } from '../store/store.ts';

/**
 * What happened in one hour or on one day of a workspace, added up. A day includes its hours, so
 * that a page in UTC reads at most ninety counters. Days of other time zones are added up from
 * their hours.
 */
export interface Counter extends Document {
  readonly workspaceId: string;
  readonly period: Period;
  /** In UTC: `2026-11-21T10` for an hour, `2026-11-21` for a day. */
  readonly start: string;
  /** By key, as in an increment. */
  readonly counts: Readonly<Record<string, number>>;
}

export type Period = 'hour' | 'day';

declare module '../store/collections.ts' {
  interface Collections {
    counters: Counter;
  }
}

export const overviewCollections = {
  counters: collection<Counter>({
    indexes: [
      { on: ['workspaceId', 'period'], orderBy: 'start' },
      { on: ['period'], orderBy: 'start' },
    ],
  }),
};

/** The hour or day that an hour belongs to. @param hour in UTC: `2026-11-21T10` */
export const startOf = (period: Period, hour: string): string =>
  period === 'hour' ? hour : hour.slice(0, 10);
