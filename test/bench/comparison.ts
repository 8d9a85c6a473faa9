// Compares the service with another program, in runs that take turns.
import { round, spread, type Figure, type Goal, type Ratio } from './report.ts';
import { median } from './statistics.ts';

export const CPU_EACH = 'CPU µs each';

/** How much is measured. */
export interface Effort {
  readonly rounds: number;
  /** 1: as many requests as the figures need. Less is for trying the bench out. */
  readonly share: number;
}

/** @returns `count` cut to the effort's share, a multiple of 16 */
export const scaled = (count: number, { share }: Effort): number =>
  Math.max(16, Math.round((count * share) / 16) * 16);

/** The result of one run. */
export interface Run {
  readonly perSecond: number;
  /** By name, with the unit in the name; `CPU µs each` is always there. */
  readonly details: Readonly<Record<string, number>>;
}

/** Neighbouring runs of the other program and of ours. */
export interface Comparison {
  readonly name: string;
  readonly other: string;
  readonly goals: { readonly aSecond?: Goal; readonly byCpu?: Goal };
  readonly theirs: Run[];
  readonly ours: Run[];
}

export const comparison = (
  name: string,
  other: string,
  goals: Comparison['goals'] = {},
): Comparison => ({ name, other, goals, theirs: [], ours: [] });

export const detail = (runs: readonly Run[], name: string) =>
  runs.map(({ details }) => details[name]!);
const perSecond = (runs: readonly Run[]) => runs.map((run) => run.perSecond);
const cpuEach = (runs: readonly Run[]) => detail(runs, CPU_EACH);
/** Divides neighbours: the first by the first, and so on. */
export const dividedBy = (above: readonly number[], below: readonly number[]) =>
  above.map((value, i) => value / below[i]!);

/** How much of the other program's speed ours has: by what is done a second, then by CPU time. */
export const ratiosOf = ({ name, other, goals, theirs, ours }: Comparison): Ratio[] => [
  {
    name: `${name} a second, to ${other}`,
    values: dividedBy(perSecond(ours), perSecond(theirs)),
    goal: goals.aSecond ?? null,
    ours: `${round(median(perSecond(ours)))} a second`,
    beside: `${round(median(perSecond(theirs)))} a second`,
  },
  {
    name: `${name}, to ${other}, by CPU time`,
    values: dividedBy(cpuEach(theirs), cpuEach(ours)),
    goal: goals.byCpu ?? null,
    isDetail: goals.byCpu === undefined,
    ours: `${round(median(cpuEach(ours)))} µs each`,
    beside: `${round(median(cpuEach(theirs)))} µs each`,
  },
];

/** Every detail of the runs. */
export const figuresOf = ({ name, other, theirs, ours }: Comparison): Figure[] => [
  {
    name: `${name} beside ${other}: a second`,
    ours: spread(perSecond(ours)),
    beside: spread(perSecond(theirs)),
  },
  ...Object.keys(ours[0]!.details).map((what) => ({
    name: `${name} beside ${other}: ${what}`,
    ours: spread(detail(ours, what)),
    beside: spread(detail(theirs, what)),
  })),
];
