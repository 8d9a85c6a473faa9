// `/` at the beginning of a reply opens a search for canned replies. The search field is a
// combobox, so that screen readers know what it is.

const MAX_SHOWN = 8;
const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The picker that is open; null when none is. */
let open = null;

document.addEventListener('input', (event) => {
  const field = event.target;
  if (!field.matches?.('textarea[data-canned]') || event.isComposing) return;
  if (event.data === '/' && field.selectionStart === 1) openPicker(field);
});

/** The replies that the page holds, filled in for its customer. */
const repliesOf = (field) =>
  [...document.querySelectorAll(`${field.dataset.canned} li`)].map((item) => ({
    name: item.querySelector('b').textContent,
    shortcut: item.dataset.shortcut,
    text: item.querySelector('.text').textContent,
  }));

function openPicker(field) {
  const replies = repliesOf(field);
  if (replies.length === 0) return;
  keepTyped();
  const picker = element('div', { class: 'canned-picker' });
  const input = element('input', {
    id: 'canned-search',
    role: 'combobox',
    'aria-label': 'Find a canned reply',
    'aria-autocomplete': 'list',
    'aria-controls': 'canned-options',
    'aria-expanded': 'true',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    placeholder: 'Find a canned reply',
  });
  const options = element('ul', {
    id: 'canned-options',
    class: 'bare',
    role: 'listbox',
    'aria-label': 'Canned replies',
  });
  const status = element('p', { role: 'status', class: 'muted' });
  picker.append(options, status, input);
  field.closest('form').before(picker);
  open = { field, picker, input, options, status, replies, shown: [], active: 0 };
  input.addEventListener('input', show);
  input.addEventListener('keydown', onKey);
  picker.addEventListener('focusout', ({ relatedTarget }) => {
    if (!picker.contains(relatedTarget)) keepTyped();
  });
  // A press must not take the focus away before the click has chosen.
  options.addEventListener('mousedown', (event) => event.preventDefault());
  options.addEventListener('click', ({ target }) => {
    const option = target.closest('[role=option]');
    if (option) choose(open.shown[[...options.children].indexOf(option)]);
  });
  show();
  input.focus();
}

function element(tag, attributes) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Shortcuts that begin with what is typed come first, then names and texts that contain it. */
function matching(replies, typed) {
  const wanted = folded(typed.trim().replace(/^\//, ''));
  const rank = ({ name, shortcut, text }) => {
    if (shortcut.startsWith(wanted)) return 0;
    if (folded(name).includes(wanted)) return 1;
    return folded(text).includes(wanted) ? 2 : 3;
  };
  return replies
    .filter((reply) => rank(reply) < 3)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MAX_SHOWN);
}

function show() {
  const { input, options, status, replies } = open;
  open.shown = matching(replies, input.value);
  options.replaceChildren(
    ...open.shown.map(({ name, shortcut, text }, index) => {
      const option = element('li', { role: 'option', id: `canned-option-${index}` });
      const head = element('span', { class: 'canned-name' });
      const title = element('b', { dir: 'auto' });
      const code = element('code', {});
      const preview = element('span', { class: 'muted preview', dir: 'auto' });
      title.textContent = name;
      code.textContent = `/${shortcut}`;
      preview.textContent = text;
      head.append(title, ' ', code);
      option.append(head, preview);
      return option;
    }),
  );
  const count = open.shown.length;
  status.textContent =
    count === 0 ? 'No canned reply matches.' : `${count} found. Enter inserts the highlighted one.`;
  input.setAttribute('aria-expanded', String(count > 0));
  activate(0);
}

function activate(index) {
  const { input, options, shown } = open;
  open.active = shown.length === 0 ? 0 : (index + shown.length) % shown.length;
  [...options.children].forEach((option, at) =>
    option.setAttribute('aria-selected', String(at === open.active)),
  );
  const active = options.children[open.active];
  if (active) input.setAttribute('aria-activedescendant', active.id);
  else input.removeAttribute('aria-activedescendant');
  active?.scrollIntoView({ block: 'nearest' });
}

function onKey(event) {
  if (event.isComposing || isLeaving(event)) return;
  const act = KEYS[event.key];
  if (!act || (event.key === 'Backspace' && open.input.value !== '')) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** Whether Tab leaves the search: with Shift it goes back, and without a match it goes on. */
const isLeaving = ({ key, shiftKey }) => key === 'Tab' && (shiftKey || open.shown.length === 0);

const KEYS = {
  ArrowDown: () => activate(open.active + 1),
  ArrowUp: () => activate(open.active - 1),
  Enter: () => choose(open.shown[open.active]),
  Tab: () => choose(open.shown[open.active]),
  Escape: () => keepTyped().focus(),
  Backspace: () => replaceSlash(''),
};

const choose = (reply) => reply && replaceSlash(reply.text);

/** Replaces the slash with a text, and selects the first gap that is left to fill in. */
function replaceSlash(text) {
  const field = closeWith(text);
  field.focus();
  const [gap] = /\{\{[^{}]*\}\}/.exec(text) ?? [];
  if (gap) field.setSelectionRange(text.indexOf(gap), text.indexOf(gap) + gap.length);
}

/** The reply begins with the slash after all, and goes on with what was typed. */
const keepTyped = () => open && closeWith(`/${open.input.value}`);

/** Closes the search, and puts a text in place of the slash. @returns the field of the reply */
function closeWith(text) {
  const { field, picker } = open;
  open = null;
  picker.remove();
  field.setRangeText(text, 0, 1, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  return field;
}
document.addEventListener('htmx:beforeSwap', ({ detail }) => {
  if (detail.target === document.body) keepTyped();
});
