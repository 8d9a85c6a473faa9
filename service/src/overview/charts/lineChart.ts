import { scaleLinear, scaleLog, scalePoint } from 'd3-scale';
import { line } from 'd3-shape';
import { html, type View } from '../../platform/html/html.ts';
import { round } from './barChart.ts';
import {
  type Chart,
  HEIGHT,
  MARGIN,
  type Series,
  seriesClass,
  slotAxis,
  slotInWords,
  valueAxis,
  WIDTH,
} from './chart.ts';

const TICKS = 4;
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
/** Where a duration chart has grid lines: durations that people think in. */
const UP_TO_6_HOURS = [10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR];
const DURATIONS = [...UP_TO_6_HOURS, DAY, 7 * DAY, 30 * DAY, 365 * DAY];

type Scale = ((value: number) => number) & { readonly tickValues: readonly number[] };

/** A line for each series, on a scale from zero. */
export const lineChart = (chart: Chart): View =>
  drawLines(chart, (values) => {
    const range = [HEIGHT - MARGIN.bottom, MARGIN.top];
    const y = scaleLinear([0, Math.max(1, ...values)], range).nice(TICKS);
    return Object.assign((value: number) => y(value), {
      tickValues: y.ticks(TICKS).filter(Number.isInteger),
    });
  });

/** A line for each series of durations, on a logarithmic scale. */
export const durationChart = (chart: Chart): View =>
  drawLines(chart, (values) => {
    const [lowest, highest] = [Math.min(...values), Math.max(...values)];
    const from = DURATIONS.findLast((each) => each <= lowest) ?? 1;
    const to = DURATIONS.find((each) => each >= highest && each > from) ?? highest;
    const y = scaleLog([from, to], [HEIGHT - MARGIN.bottom, MARGIN.top]).clamp(true);
    return Object.assign((value: number) => y(value), {
      tickValues: DURATIONS.filter((each) => each >= from && each <= to),
    });
  });

function drawLines(chart: Chart, scaleOf: (values: readonly number[]) => Scale): View {
  const { slots, series, inWords } = chart;
  const positions = slots.map((_, at) => at);
  const x = scalePoint(positions, [MARGIN.left, WIDTH - MARGIN.right]).padding(0.5);
  const y = scaleOf(series.flatMap(({ values }) => values.filter((value) => value !== null)));
  const place = (at: number) => round(x(at)!);
  return html`
    ${valueAxis(y.tickValues, y, inWords)}
    ${series.map((each, at) => lineOf(each, at, place, y))}
    ${positions.map(
      (at) => html`
        <g class="hover">
          <title>${slotInWords(chart, at)}</title>
          <rect
            x=${round(x(at)! - x.step() / 2)}
            width=${round(x.step())}
            y=${MARGIN.top}
            height=${HEIGHT - MARGIN.top - MARGIN.bottom}
          />
        </g>
      `,
    )}
    ${slotAxis(slots, place)}
  `;
}

/** A value without neighbours is a dot, since no line goes through it. */
function lineOf(
  series: Series,
  at: number,
  x: (at: number) => number,
  y: (value: number) => number,
): View {
  const { values } = series;
  const path = line<number | null>()
    .defined((value) => value !== null)
    .x((_, slot) => x(slot))
    .y((value) => round(y(value!)))(values);
  const isAlone = (slot: number) =>
    (values[slot - 1] ?? null) === null && (values[slot + 1] ?? null) === null;
  return html`
    <g class=${seriesClass(series, at)}>
      <path class="line" d=${path ?? ''} />
      ${values.map((value, slot) =>
        value !== null && isAlone(slot)
          ? html`<circle cx=${x(slot)} cy=${round(y(value))} r="3" />`
          : null,
      )}
    </g>
  `;
}
