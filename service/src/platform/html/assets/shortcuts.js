// The inbox by keyboard: keys for what is done often, and where the focus goes after each step.
// docs/inbox.md lists the keys.

const OFF = 'shortcuts-off';

/** Whether the keys are off on this page only, because the browser cannot store the choice. */
let isOffHere = false;
/** WCAG 2.1.4: keys without a modifier can be switched off. */
const isOff = () => {
  if (isOffHere) return true;
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return false;
  }
};
function switchTo(on) {
  isOffHere = false;
  try {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, 'yes');
  } catch {
    isOffHere = !on;
  }
  setAriaShortcuts();
}

const byId = (id) => document.getElementById(id);
const inbox = () => document.querySelector('.inbox');
const thread = () => byId('thread');
const dialog = () => byId('shortcuts');
const isShown = (element) => (element?.getClientRects().length ?? 0) > 0;
const openId = () => inbox()?.dataset.conversation;

/** The links of the list at which `j` and `k` stop. */
const stops = () => [...document.querySelectorAll('#items :is(a.item, .pager a)')].filter(isShown);
const openRow = () => document.querySelector('#items a.item[aria-current]');
const focusedRow = () => document.activeElement?.closest('#items a.item') ?? null;

/** The row that had the focus last, and its place. An answered row may leave the list. */
let last = { id: '', index: 0 };
function remember(row) {
  const index = stops().indexOf(row);
  if (index !== -1) last = { id: row.id, index };
}
document.addEventListener('focusin', ({ target }) => remember(target.closest?.('#items a')));

const stopNear = (index) => {
  const all = stops();
  return all[Math.max(0, Math.min(index, all.length - 1))];
};

function move(step) {
  const all = stops();
  const focused = all.find((stop) => stop === document.activeElement);
  const at = all.indexOf(focused ?? openRow() ?? byId(last.id));
  // If the last row has left the list, the next one has its index now.
  stopNear(at === -1 ? last.index + Math.min(0, step) : at + step)?.focus();
}

/** The form that is open in place of the reply. What is entered there stays: see drafts.js. */
const openedForm = () => document.querySelector('.composer form:not(.reply, .noting)');
const cancelOf = (form) => form.querySelector('a[role=button][href]');

function write(mode, field) {
  const choice = byId(mode);
  if (choice) choice.checked = true;
  const text = byId(field);
  if (!isShown(text)) return thread().focus();
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

function showCard(card) {
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: 'nearest' });
}

/** Opens the panel of the contact first, which is folded where it has no room beside the thread. */
function showAssignee(select) {
  if (!select) return;
  if (!select.checkVisibility()) byId('contact').open = true;
  select.focus();
}

/** What to do on a page once it is there. */
const GOALS = {
  reply: () => write('mode-reply', 'f-text'),
  note: () => write('mode-note', 'f-note'),
  assign: () => showAssignee(byId('assignee')),
  close: () => openedForm()?.querySelector('select')?.focus(),
  decision: () => showCard(document.querySelector('main .approval.waiting')),
  found: () => document.querySelector('#items a.item')?.focus(),
  list: () => (openRow() ?? byId(last.id) ?? stopNear(last.index) ?? byId('items'))?.focus(),
};
let wanted = null;

function go(href, goal = '') {
  const link = document.createElement('a');
  link.href = href;
  link.dataset.goal = goal;
  link.hidden = true;
  document.body.append(link);
  htmx.process(link);
  link.click();
}

/** Pursues a goal in the conversation whose row has the focus, else in the open one. */
function act(goal) {
  const row = focusedRow();
  const form = openedForm();
  if (row && row !== openRow()) {
    const address = new URL(row.href);
    if (goal === 'close') address.pathname += '/close';
    go(address.href, goal);
  } else if (!thread()) return;
  else if (goal === 'close') {
    if (form?.querySelector('#f-verdict')) GOALS.close();
    else byId('do-close')?.click();
  } else if (!form || goal === 'assign') GOALS[goal]();
  else go(cancelOf(form).href, goal);
}

/** Goes to the next card of this conversation, or else to a card of another conversation. */
function nextDecision() {
  const cards = [...document.querySelectorAll('#thread .approval.waiting')];
  const next = cards[cards.findIndex((card) => card.contains(document.activeElement)) + 1];
  if (next) showCard(next);
  else go(`/waiting/next?from=${openId() ?? ''}`, 'decision');
}

function toggleHelp() {
  if (dialog().open) return dialog().close();
  byId('shortcuts-on').checked = !isOff();
  dialog().showModal();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  w: () => go(`/conversations/next-waiting?from=${openId() ?? ''}`),
  p: nextDecision,
  r: () => act('reply'),
  n: () => act('note'),
  a: () => act('assign'),
  e: () => act('close'),
  '/': () => byId('search').focus(),
  '?': toggleHelp,
};
const SHOWN_ON = {
  '#items': 'j k',
  '#tab-waiting': 'w',
  '#tab-approvals': 'p',
  '#f-text': 'r',
  '#mode-note': 'n',
  '#assignee': 'a',
  '#do-close': 'e',
  '#search': '/',
  '#shortcuts-help': '?',
};
function setAriaShortcuts() {
  for (const [selector, keys] of Object.entries(SHOWN_ON)) {
    const element = document.querySelector(selector);
    if (isOff()) element?.removeAttribute('aria-keyshortcuts');
    else element?.setAttribute('aria-keyshortcuts', keys);
  }
}
document.addEventListener('DOMContentLoaded', setAriaShortcuts);
document.addEventListener('htmx:afterSettle', setAriaShortcuts);
addEventListener('storage', setAriaShortcuts);

/** On a keyboard without Latin letters, the position of a key counts. */
const keyOf = ({ key, code, shiftKey }) => {
  if (!/^[ -~]$/.test(key)) return /^Key[A-Z]$/.test(code) ? code.at(-1).toLowerCase() : key;
  return shiftKey ? key : key.toLowerCase();
};
const isField = (element) =>
  element?.matches?.('input:not([type=checkbox], [type=radio]), textarea, select') ||
  element?.isContentEditable;

document.addEventListener('keydown', (event) => {
  if (!inbox() || event.defaultPrevented || event.isComposing || event.altKey) return;
  if (isTypedAhead(event)) {
    event.preventDefault();
    typedAhead.push({ typed: event.key, command: event.ctrlKey ? 'Ctrl+Enter' : keyOf(event) });
    return;
  }
  if (event.ctrlKey || event.metaKey) return;
  if (event.key === 'Escape') return leave(event);
  if (event.key === 'Enter' && event.target.matches('.assign select')) {
    event.preventDefault();
    return event.target.form.requestSubmit();
  }
  const run = Object.hasOwn(KEYS, keyOf(event)) ? KEYS[keyOf(event)] : null;
  if (run === null || isOff() || isField(event.target)) return;
  if (dialog()?.open && run !== toggleHelp) return;
  event.preventDefault();
  if (!event.repeat || run === KEYS.j || run === KEYS.k) run();
});

/** Whether a key is meant for the page that is on its way. */
function isTypedAhead({ key, target, ctrlKey, metaKey, shiftKey }) {
  if (!isComing() || isOff() || metaKey) return false;
  if (key === 'Escape' || key === 'Backspace') return !ctrlKey && typedAhead.length > 0;
  if (key === 'Tab') return !ctrlKey && !shiftKey && (typedAhead.length > 0 || !isField(target));
  // Enter in the search opens the first result, which has the focus by then.
  if (key === 'Enter') return typedAhead.length > 0 || target.id === 'search';
  return key.length === 1 && !ctrlKey && (typedAhead.length > 0 || !isField(target));
}

/** Escape leaves what is open, one step at a time: a form, a field, the thread. */
function leave(event = null) {
  const active = document.activeElement;
  if (document.querySelector('dialog[open], :popover-open')) return;
  const filter = active.closest('details.filter[open]');
  const isInPane = active.closest('.thread-pane') !== null || isNowhere(active);
  const form = openedForm();
  // At the first Escape, the browser clears the search field.
  if (active.id === 'search' && active.value !== '') return;
  event?.preventDefault();
  if (filter) {
    filter.open = false;
    filter.querySelector('summary').focus();
  } else if (thread() && isInPane && form) {
    // Keys that follow are not for the form any more.
    thread().focus({ preventScroll: true });
    cancelOf(form).click();
  } else if (thread() && isInPane && active !== thread() && !isNowhere(active)) thread().focus();
  else if (focusedRow() && thread()) closeThread();
  else if (isShown(inbox().querySelector('.list-pane'))) GOALS.list();
  else closeThread();
}
function closeThread() {
  const back = document.querySelector('.inbox .back a');
  if (back) go(back.href, 'list');
}
const isNowhere = (element) => element === document.body || element?.id === 'main';

document.addEventListener('click', ({ target }) => {
  if (target.closest?.('[data-shortcuts]')) toggleHelp();
});
document.addEventListener('change', ({ target }) => {
  if (target.id === 'shortcuts-on') switchTo(target.checked);
});

/**
 * The keys that were pressed while a page is on its way. They are meant for that page: shortcuts,
 * and then the text that is typed there.
 */
let typedAhead = [];
/** The newest request for a whole page, until that page is there. */
let pageRequest = null;
/** Between its swap and its settling, a page has not placed the focus yet. */
let isSettling = false;
const isComing = () => pageRequest !== null || isSettling;
document.addEventListener('htmx:beforeRequest', ({ detail: { elt, target, xhr } }) => {
  if (target !== document.body || !inbox()) return;
  pageRequest = xhr;
  xhr.addEventListener('loadend', () => endRequest(xhr));
  wanted = elt.matches('form.search') ? 'found' : elt.dataset.goal || null;
  if (movesFocusToThread(elt)) thread()?.focus({ preventScroll: true });
});
/** Whether the focus leaves the field of a form that is sent. After a reply, it stays there. */
const movesFocusToThread = (form) =>
  form.matches('form:not(.reply)') &&
  form.closest('.thread-pane') !== null &&
  isField(document.activeElement);

function endRequest(xhr) {
  if (xhr !== pageRequest) return;
  pageRequest = null;
  typedAhead = [];
  wanted = null;
}

function replayKeys() {
  while (typedAhead.length > 0 && !isComing()) {
    const { activeElement: active } = document;
    if (active.matches('select') && isLetter(typedAhead[0])) {
      choose(active, takeLetters());
      continue;
    }
    const { typed, command } = typedAhead.shift();
    if (command === 'Enter') enter(active);
    else if (command === 'Ctrl+Enter') active.form?.requestSubmit();
    else if (command === 'Escape') leave();
    else if (command === 'Tab') tab(active);
    else if (command === 'Backspace') document.execCommand('delete');
    else if (isField(active)) document.execCommand('insertText', false, typed);
    else KEYS[command]?.();
  }
}
function enter(active) {
  if (active.matches('.assign select')) active.form.requestSubmit();
  else if (active.matches('textarea')) document.execCommand('insertText', false, '\n');
  else active.click();
}
/** Moves the focus as Tab does. */
function tab(from) {
  const isNext = (each) =>
    from.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING &&
    isShown(each) &&
    !each.disabled &&
    each.tabIndex >= 0;
  const all = document.querySelectorAll('a, button, input, select, textarea, summary');
  [...all].find(isNext)?.focus();
}
const isLetter = ({ typed }) => typed.length === 1;
/** The letters that come next, up to the first other key. */
function takeLetters() {
  const letters = [];
  while (typedAhead.length > 0 && isLetter(typedAhead[0])) letters.push(typedAhead.shift().typed);
  return letters.join('');
}
/** Chooses the option that begins with these letters, as a browser does. */
function choose(select, letters) {
  const begins = ({ text }) => text.toLowerCase().startsWith(letters.toLowerCase());
  const option = [...select.options].find(begins);
  if (!option) return;
  option.selected = true;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

/** Where the reader was before the swap. */
let before = {};
document.addEventListener('htmx:beforeSwap', ({ detail: { target } }) => {
  const { activeElement: active } = document;
  before = { id: openId(), isInside: target.contains(active), row: focusedRow() };
});
document.addEventListener('htmx:afterSwap', ({ detail: { target } }) => {
  if (target === document.body) {
    pageRequest = null;
    isSettling = true;
  } else if (before.isInside && document.activeElement === document.body) {
    if (before.row) (stopNear(last.index) ?? byId('items'))?.focus();
    else if (['thread', 'thread-head', 'contact-panel'].includes(target.id))
      thread().focus({ preventScroll: true });
  }
});
document.addEventListener('htmx:afterSettle', ({ detail: { target } }) => {
  if (target !== document.body) return;
  isSettling = false;
  arrive();
});

function arrive() {
  const goal = wanted;
  wanted = null;
  remember(openRow());
  const form = openedForm();
  const { activeElement: active } = document;
  if (goal !== null) GOALS[goal]();
  else if (form && !form.contains(active))
    form.querySelector('input:not([type=hidden]), select, textarea')?.focus();
  else if (thread() && (openId() !== before.id || isNowhere(active) || active === openRow()))
    thread().focus({ preventScroll: true });
  replayKeys();
}
