import { html, type View } from '../../platform/html/html.ts';

/**
 * A table whose first column names the rows. A narrow window scrolls it.
 * @param id of the figure that it is in
 */
export const tableView = (
  id: string,
  headings: readonly string[],
  rows: readonly (readonly View[])[],
): View => html`
  <div class="rows" tabindex="0" role="group" aria-labelledby=${`${id}-title`}>
    <table>
      <thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(([name, ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>
`;
