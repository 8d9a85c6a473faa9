import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
import { html, type View } from '../../platform/html/html.ts';
import {
  type Chart,
  HEIGHT,
  MARGIN,
  seriesClass,
  slotAxis,
  slotInWords,
  valueAxis,
  WIDTH,
} from './chart.ts';

const TICKS = 4;

/** One bar for each slot, with the series stacked. */
export function barChart(chart: Chart): View {
  const { slots, series, inWords } = chart;
  const positions = slots.map((_, at) => at);
  const layers = stack<number, number>()
    .keys(series.map((_, at) => at))
    .value((slot, seriesAt) => series[seriesAt]!.values[slot] ?? 0)(positions);
  const highest = Math.max(1, ...layers.flatMap((layer) => layer.map(([, top]) => top)));
  const x = scaleBand(positions, [MARGIN.left, WIDTH - MARGIN.right]).padding(0.25);
  const y = scaleLinear([0, highest], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(TICKS);
  const middle = (at: number) => round(x(at)! + x.bandwidth() / 2);
  const bar = (slot: number, seriesAt: number, { 0: bottom = 0, 1: top = 0 }: ArrayLike<number>) =>
    top === bottom
      ? null
      : html`
        <rect
          class=${seriesClass(series[seriesAt]!, seriesAt)}
          x=${round(x(slot)!)}
          width=${round(x.bandwidth())}
          y=${round(y(top))}
          height=${round(y(bottom) - y(top))}
        />
      `;
  return html`
    ${valueAxis(y.ticks(TICKS).filter(Number.isInteger), y, inWords)}
    ${positions.map(
      (at) => html`
        <g>
          <title>${slotInWords(chart, at)}</title>
          ${layers.map((layer, seriesAt) => bar(at, seriesAt, layer[at]!))}
        </g>
      `,
    )}
    ${slotAxis(slots, middle)}
  `;
}

/** Rounds a coordinate to a tenth: finer differences are invisible. */
export const round = (coordinate: number): number => Math.round(coordinate * 10) / 10;
