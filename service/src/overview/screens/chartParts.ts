import { type Chart, chartView, type Figure } from '../charts/chart.ts';
import type { View } from '../../platform/html/html.ts';
import { durationChart } from '../charts/lineChart.ts';
import { type Range, slotTitle } from '../range.ts';
import type { CountsOfRange } from '../readCounts.ts';
import type { Tally } from '../tally.ts';
import { durationLabel, slotLabel } from '../words.ts';

/** What is counted in buckets of durations. */
type DurationName = 'first_answer' | 'resolution' | 'tool_time' | 'decision_time' | 'attempt_time';

export interface ChartParts {
  readonly counts: CountsOfRange;
  readonly range: Range;
  /** The reader's, whose days are drawn. */
  readonly timeZone: string;
  /** Null: all channels. */
  readonly channel: string | null;
}

export const MEDIAN = 0.5;
export const NINETIETH = 0.9;

/** The hours or days that every chart of a page has. */
const slotsOfChart = ({ counts, range, timeZone }: ChartParts) => ({
  slots: counts.slots.map(({ start }) => slotLabel(start, timeZone)),
  slotTitle: slotTitle(range, timeZone),
});

/** What was counted in each hour or on each day. */
export const countChart = (
  parts: ChartParts,
  chart: Omit<Chart, 'slots' | 'slotTitle' | 'inWords'>,
  draw: (chart: Chart) => View,
): Figure => chartView({ ...slotsOfChart(parts), ...chart, inWords: String }, draw);

/** A value of each hour or day. */
export const perSlot = <T>({ counts }: ChartParts, valueOf: (counts: Tally) => T): readonly T[] =>
  counts.slots.map((slot) => valueOf(slot.counts));

/** The first label of the counts of conversations: the channel, or none for all channels. */
export const firstLabelsOf = ({ channel }: ChartParts): readonly string[] =>
  channel === null ? [] : [channel];

/** The median and the 90th percentile of what was counted in buckets. */
export function durationsView(
  parts: ChartParts,
  {
    name,
    firstLabels = [],
    id,
    title,
    span,
    whenEmpty,
  }: Pick<Chart, 'id' | 'title' | 'whenEmpty'> & {
    readonly name: DurationName;
    /** Only counts whose labels begin with these. */
    readonly firstLabels?: readonly string[];
    /** The time that is measured: `From connecting to the end of the answer`. */
    readonly span: string;
  },
): Figure {
  const ofTotal = (share: number) =>
    durationLabel(parts.counts.total.percentile(name, share, ...firstLabels) ?? 0);
  const seriesOf = (label: string, share: number) => ({
    label,
    values: perSlot(parts, (counts) => counts.percentile(name, share, ...firstLabels)),
  });
  return chartView(
    {
      ...slotsOfChart(parts),
      id,
      title,
      summary: `${span}: half within ${ofTotal(MEDIAN)}, nine of ten within ${ofTotal(NINETIETH)}.`,
      series: [seriesOf('Median', MEDIAN), seriesOf('90th percentile', NINETIETH)],
      inWords: durationLabel,
      whenEmpty,
    },
    durationChart,
  );
}
