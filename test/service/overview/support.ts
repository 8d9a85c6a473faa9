// The overview as a reader without scripts sees it: the figures on top, and each chart's table.
import type { Browserless, Page } from '../../helpers/browserless.ts';

/** The columns of a chart's table, by their heading; a cell that is not a number is null. */
export type ChartTable = Readonly<Record<string, readonly (number | null)[]>>;

const cellsOf = (row: string) =>
  [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, text = '']) => text);

/**
 * The cells of a chart's rows, as HTML, its headings first.
 * @throws Error when there is no such chart
 */
function rowsOf({ html }: Page, id: string): string[][] {
  const chart = `<section class="chart[^"]*" aria-labelledby="${id}-title">.*?</section>`;
  const [section] = new RegExp(chart, 's').exec(html) ?? [];
  if (section === undefined) throw new Error(`no chart ${id}`);
  return [...section.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => cellsOf(row));
}

/** @returns null when the chart says that there is nothing yet */
export function chartTable(page: Page, id: string): ChartTable | null {
  const [head, ...rows] = rowsOf(page, id);
  if (head === undefined) return null;
  return Object.fromEntries(
    head.map((title, column) => [
      title,
      rows.map((cells) => (/^\d/.test(cells[column]!) ? Number.parseFloat(cells[column]!) : null)),
    ]),
  );
}

/** The cells of a chart's table, as HTML, without its headings. */
export const tableRows = (page: Page, id: string): readonly (readonly string[])[] =>
  rowsOf(page, id).slice(1);

/** The count beside each label of a chart that is a list of bars. */
export const barCounts = (page: Page, id: string): Readonly<Record<string, number>> =>
  Object.fromEntries(tableRows(page, id).map(([label = '', n]) => [label, Number(n)]));

/** The total of each column of a chart's table but the first, which holds its labels. */
export async function totals(
  browser: Browserless,
  id: string,
  query = '?range=24h',
): Promise<Record<string, number>> {
  const table = chartTable(await browser.get(`/overview${query}`), id) ?? {};
  return Object.fromEntries(
    Object.entries(table)
      .slice(1)
      .map(([title, values]) => [title, values.reduce<number>((sum, n) => sum + (n ?? 0), 0)]),
  );
}

/** A figure on top of the page. */
export const figure = ({ html }: Page, label: string): string | undefined =>
  new RegExp(`<dt>${label}</dt><dd>([^<]*)</dd>`).exec(html)?.[1];
