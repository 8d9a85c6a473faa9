import { html, type View } from '../../platform/html/html.ts';

/** One line, or one colour of the bars. */
export interface Series {
  readonly label: string;
  /** For each slot; null where nothing was measured. */
  readonly values: readonly (number | null)[];
  /** For what went well, went wrong, or did not happen. */
  readonly tone?: 'good' | 'bad' | 'quiet';
}

/** The class that gives a series its colour. @param at its place among the chart's series */
export const seriesClass = ({ tone }: Series, at: number): string => `series-${tone ?? at + 1}`;

/** What happened over some hours or days. */
export interface Chart {
  readonly id: string;
  readonly title: string;
  /** What it says in a sentence: under the title, and to screen readers. */
  readonly summary: string;
  /** The hours or days: `21 Nov`, `10:00`. */
  readonly slots: readonly string[];
  /** What a slot is: `Day (UTC)`. */
  readonly slotTitle: string;
  readonly series: readonly Series[];
  /** A value in words: `12`, `3 min`. */
  readonly inWords: (value: number) => string;
  /** What the chart will show, and how to get data into it. */
  readonly whenEmpty: string;
}

/** The drawing's size in its own units. On a phone, a unit is less than a pixel. */
export const WIDTH = 400;
export const HEIGHT = 190;
export const MARGIN = { top: 8, right: 8, bottom: 22, left: 60 };
const MAX_SLOT_LABELS = 5;

const isEmpty = ({ series }: Chart): boolean =>
  series.every(({ values }) => values.every((value) => (value ?? 0) === 0));

/** A chart with its title, a legend, and a table of the same values. */
export const chartView = (chart: Chart, draw: (chart: Chart) => View): Figure =>
  figureOf(
    chart,
    isEmpty(chart)
      ? null
      : html`
          ${chart.series.length > 1 ? legend(chart) : null}
          ${drawing(chart, draw(chart))}
          ${tableOf(chart)}
        `,
  );

/** A chart or a table with its title; one line where nothing happened. */
export interface Figure {
  readonly isEmpty: boolean;
  readonly view: View;
}

export type Titled = Pick<Chart, 'id' | 'title' | 'summary' | 'whenEmpty'>;

/** @param content null when there is nothing to show. @param options.isWide as wide as the page */
export const figureOf = (
  titled: Titled,
  content: View,
  { isWide = false }: { readonly isWide?: boolean } = {},
): Figure =>
  content === null
    ? { isEmpty: true, view: emptyFigure(titled) }
    : { isEmpty: false, view: filledFigure(titled, content, isWide) };

const filledFigure = ({ id, title, summary }: Titled, content: View, isWide: boolean): View => html`
  <section class=${isWide ? 'chart wide' : 'chart'} aria-labelledby=${`${id}-title`}>
    <h2 id=${`${id}-title`}>${title}</h2>
    <p class="muted">${summary}</p>
    ${content}
  </section>
`;

/** One line, which unfolds to `whenEmpty`. */
const emptyFigure = ({ id, title, whenEmpty }: Titled): View => html`
  <section class="chart empty" aria-labelledby=${`${id}-title`}>
    <details>
      <summary><h2 id=${`${id}-title`}>${title}</h2> <span class="muted">no data</span></summary>
      <p class="muted">${whenEmpty}</p>
    </details>
  </section>
`;

const legend = ({ series }: Chart): View => html`
  <ul class="bare legend" aria-hidden="true">
    ${series.map(
      (each, at) => html`
        <li>
          <svg class=${seriesClass(each, at)} viewBox="0 0 10 10" width="10" height="10">
            <rect width="10" height="10" rx="2" />
          </svg> ${each.label}
        </li>
      `,
    )}
  </ul>
`;

/** @param height in the drawing's units */
export const drawing = (
  { id, title, summary }: Pick<Chart, 'id' | 'title' | 'summary'>,
  content: View,
  height = HEIGHT,
): View => html`
  <svg
    class="drawing"
    viewBox=${`0 0 ${WIDTH} ${height}`}
    role="img"
    aria-labelledby=${`${id}-name ${id}-words`}
  >
    <title id=${`${id}-name`}>${title}</title>
    <desc id=${`${id}-words`}>${summary} The same is in the table below.</desc>
    ${content}
  </svg>
`;

const tableOf = ({ id, title, slots, slotTitle, series, inWords }: Chart): View => html`
  <details>
    <summary>Table<span class="visually-hidden">: ${title}</span></summary>
    <div class="bounded" tabindex="0" role="group" aria-labelledby=${`${id}-title`}>
      <table>
        <thead>
          <tr>
            <th scope="col">${slotTitle}</th>
            ${series.map(({ label }) => html`<th scope="col">${label}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${slots.map(
            (slot, at) => html`
              <tr>
                <th scope="row">${slot}</th>
                ${series.map(({ values }) => html`<td>${valueInWords(values[at], inWords)}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  </details>
`;

export const valueInWords = (
  value: number | null | undefined,
  inWords: (value: number) => string,
): string => (value === null || value === undefined ? '–' : inWords(value));

/** The tooltip of a slot: `21 Nov · Opened 12 · Closed 3`. */
export const slotInWords = ({ slots, series, inWords }: Chart, at: number): string =>
  [
    slots[at]!,
    ...series.map(({ label, values }) => `${label} ${valueInWords(values[at], inWords)}`),
  ].join(' · ');

/** The horizontal grid lines with their values. @param y gives the height of a value */
export const valueAxis = (
  ticks: readonly number[],
  y: (value: number) => number,
  inWords: (value: number) => string,
): View =>
  ticks.map(
    (tick) => html`
      <line class="grid" x1=${MARGIN.left} x2=${WIDTH - MARGIN.right} y1=${y(tick)} y2=${y(tick)} />
      <text class="tick" x=${MARGIN.left - 5} y=${y(tick)} dy="0.32em" text-anchor="end">
        ${inWords(tick)}
      </text>
    `,
  );

/** The labels of some hours or days, always of the last one. @param x gives the middle of a slot */
export function slotAxis(slots: readonly string[], x: (at: number) => number): View {
  const step = Math.ceil(slots.length / MAX_SLOT_LABELS);
  return slots.map((slot, at) => {
    const fromLast = slots.length - 1 - at;
    if (fromLast % step !== 0) return null;
    const anchor = fromLast === 0 ? 'end' : 'middle';
    const place = fromLast === 0 ? WIDTH - MARGIN.right : x(at);
    return html`<text class="tick" x=${place} y=${HEIGHT - 6} text-anchor=${anchor}>${slot}</text>`;
  });
}
