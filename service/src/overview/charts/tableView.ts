import { html, type View } from '../../platform/html/html.ts';
import { type Figure, figureOf, type Titled } from './chart.ts';

/** A table as wide as the page, whose first column names the rows. On a phone each row is a card. */
export const tableFigure = (
  titled: Titled,
  headings: readonly string[],
  rows: readonly (readonly View[])[],
): Figure =>
  figureOf(titled, rows.length === 0 ? null : tableView(titled.id, headings, rows), {
    isWide: true,
  });

const tableView = (
  id: string,
  headings: readonly string[],
  rows: readonly (readonly View[])[],
): View => html`
  <div class="rows stacks" tabindex="0" role="group" aria-labelledby=${`${id}-title`}>
    <table>
      <thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(
          ([name, ...cells]) => html`
            <tr>
              <th scope="row">${name}</th>
              ${cells.map((cell, at) => html`<td data-label=${headings[at + 1]}>${cell}</td>`)}
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`;
