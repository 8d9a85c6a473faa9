import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { html, type View } from '../../platform/html/html.ts';
import { round } from './barChart.ts';

const WIDTH = 84;
const HEIGHT = 24;
/** So that no stroke is cut off. */
const EDGE = 2;

/**
 * A small line chart of the last seven days, with their sum in words.
 * @param values one for each day, the oldest first; undefined when nothing was counted
 * @param noun names what is counted: `attempt`
 */
export function sparkLine(values: readonly number[] | undefined, noun: string): View {
  const sum = (values ?? []).reduce((all, value) => all + value, 0);
  if (values === undefined || sum === 0)
    return html`<span class="spark muted">no ${noun}s in 7 days</span>`;
  const x = scaleLinear([0, values.length - 1], [EDGE, WIDTH - EDGE]);
  const y = scaleLinear([0, Math.max(...values)], [HEIGHT - EDGE, EDGE]);
  const path = line<number>()
    .x((_, at) => round(x(at)))
    .y((value) => round(y(value)))(values);
  return html`
    <span class="spark muted">
      <svg
        class="spark-line"
        viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}
        width=${WIDTH}
        height=${HEIGHT}
        aria-hidden="true"
      >
        <path d=${path ?? ''} />
      </svg>
      ${sum} ${noun}${sum === 1 ? '' : 's'} in 7 days
    </span>
  `;
}
