import { html, type View } from '../platform/html/html.ts';
import { icon } from '../platform/html/icons.ts';

/** The keys of the inbox, as shortcuts.js handles them and docs/inbox.md lists them. */
const SHORTCUTS = [
  ['j', 'k', 'Next and previous conversation in the list'],
  ['Enter', null, 'Open it'],
  ['w', null, 'Open the conversation that has waited longest, then the next one'],
  ['p', null, 'Go to what waits for your decision'],
  ['r', null, 'Reply'],
  ['n', null, 'Write a note for the team'],
  ['a', null, 'Assign: type the start of a name, then Enter'],
  ['e', null, 'Close the conversation'],
  ['/', null, 'Search'],
  ['Ctrl+Enter', null, 'Send what you are writing'],
  ['Esc', null, 'Leave a form, a field or the conversation'],
  ['?', null, 'Show these shortcuts'],
] as const;

/** Opens the list of shortcuts. Without scripts there are none. */
export const shortcutsButton = (): View => html`
  <button
    id="shortcuts-help"
    class="icon-button secondary"
    type="button"
    data-shortcuts
    aria-haspopup="dialog"
    aria-label="Keyboard shortcuts"
  >
    ${icon('keyboard')}
  </button>
`;

export const shortcutsDialog = (): View => html`
  <dialog id="shortcuts" class="shortcuts" aria-labelledby="shortcuts-title">
    <header>
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <button type="button" class="icon-button secondary" data-shortcuts aria-label="Close">
        ${icon('x')}
      </button>
    </header>
    <table>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Key</th>
          <th scope="col">What it does</th>
        </tr>
      </thead>
      <tbody>
        ${SHORTCUTS.map(
          ([key, other, does]) => html`
            <tr>
              <th scope="row">
                <kbd>${key}</kbd>
                ${other === null ? null : html`${' '}<kbd>${other}</kbd>`}
              </th>
              <td>${does}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
    <p>
      In a list, r, n, a and e act on the conversation that has the focus. While you type, only Ctrl+Enter and Esc act.
    </p>
    <label for="shortcuts-on">
      <input
        type="checkbox"
        id="shortcuts-on"
        checked
        autocomplete="off"
      /> Single-key shortcuts
    </label>
    <p class="muted">This browser remembers it. Ctrl+Enter, Enter and Esc always work.</p>
  </dialog>
`;
