import { html, type View } from '../../platform/html/html.ts';

/**
 * A table whose first column names the rows. On a phone each row is a card.
 * @param id of the figure that it is in
 */
export const tableView = (
  id: string,
  headings: readonly string[],
  rows: readonly (readonly View[])[],
): View => html`
  <div class="rows stacks" tabindex="0" role="group" aria-labelledby=${`${id}-title`}>
    <table>
      <thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(([name, ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell, at) => html`<td data-label=${headings[at + 1]}>${cell}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>
`;
