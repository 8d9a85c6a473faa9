import { scaleLinear } from 'd3-scale';
import { html } from '../../platform/html/html.ts';
import { round } from './barChart.ts';
import { type Chart, drawing, type Figure, figureOf, WIDTH } from './chart.ts';

/** How often each of a few things happened, the most frequent first. */
interface BarList extends Pick<Chart, 'id' | 'title' | 'summary' | 'whenEmpty'> {
  /** What the things are: `Reason`. */
  readonly itemTitle: string;
  readonly items: readonly { readonly label: string; readonly n: number }[];
}

const ROW = 34;
const BAR = 10;

export function barListView(list: BarList): Figure {
  const items = list.items.filter(({ n }) => n > 0).sort((a, b) => b.n - a.n);
  if (items.length === 0) return figureOf(list, null);
  const x = scaleLinear([0, items[0]!.n], [0, WIDTH]);
  const rows = items.map(
    ({ label, n }, at) => html`
      <text class="label" x="0" y=${at * ROW + 13}>${label}</text>
      <text class="label" x=${WIDTH} y=${at * ROW + 13} text-anchor="end">${n}</text>
      <rect class="series-1" x="0" y=${at * ROW + 18} width=${round(x(n))} height=${BAR} rx="2" />
    `,
  );
  const total = items.reduce((sum, { n }) => sum + n, 0);
  return figureOf(
    list,
    html`
      ${drawing(list, rows, items.length * ROW)}
      <details>
        <summary>Table<span class="visually-hidden">: ${list.title}</span></summary>
        <table>
          <thead>
            <tr>
              <th scope="col">${list.itemTitle}</th>
              <th scope="col">Count</th>
              <th scope="col">Share</th>
            </tr>
          </thead>
          <tbody>
            ${items.map(
              ({ label, n }) => html`
                <tr>
                  <th scope="row">${label}</th>
                  <td>${n}</td>
                  <td>${percent(n, total)}</td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </details>
    `,
  );
}

/** `37 %`; a dash when there is nothing to be a share of. */
export function percent(n: number, of: number): string {
  if (of === 0) return '–';
  const exact = (n / of) * 100;
  return `${exact < 10 ? Math.round(exact * 10) / 10 : Math.round(exact)} %`;
}
