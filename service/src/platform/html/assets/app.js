// What the pages do beyond links and forms: small, and each page works without it.

/** <button data-copy="#id"> copies the text of another element. */
document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('[data-copy]');
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  if (navigator.clipboard) await navigator.clipboard.writeText(source.value ?? source.textContent);
  else if (!copySelected(source)) return;
  const label = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = label), 1500);
});

/**
 * Without https, and by a name other than localhost, a page has no clipboard. What is to be copied
 * is selected, which also serves a reader who has to copy it by hand.
 */
function copySelected(source) {
  const folded = source.closest('details');
  if (folded) folded.open = true;
  if (source.select) source.select();
  else getSelection().selectAllChildren(source);
  return document.execCommand('copy');
}

/** <form data-confirm="Really?"> asks first. */
document.addEventListener(
  'submit',
  (event) => {
    const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
    if (question && !window.confirm(question)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  },
  true,
);

/** Ctrl+Enter sends what is written in a text field. */
document.addEventListener('keydown', (event) => {
  if (
    event.key !== 'Enter' ||
    !(event.ctrlKey || event.metaKey) ||
    !event.target.matches?.('textarea')
  )
    return;
  event.target.form?.requestSubmit();
});

/**
 * A list that is followed stays at its end when something is added, unless its reader has scrolled
 * up.
 */
const followed = () => document.querySelector('[data-follow]');
let following = null;
let atEnd = true;
const toEnd = () => {
  const list = followed();
  // another page's list begins at its end
  if (list !== following) [following, atEnd] = [list, true];
  if (list && atEnd) list.scrollTop = list.scrollHeight;
};
document.addEventListener(
  'scroll',
  (event) => {
    if (event.target === followed())
      atEnd = event.target.scrollHeight - event.target.scrollTop - event.target.clientHeight < 40;
  },
  true,
);
document.addEventListener('htmx:afterSettle', toEnd);
document.addEventListener('DOMContentLoaded', toEnd);
addEventListener('resize', toEnd);

/**
 * What was opened or folded stays so when its part of the page is loaded again, and what had the
 * focus keeps it.
 */
let folds = new Map();
let focusedId = '';
document.addEventListener('htmx:beforeSwap', (event) => {
  const { target } = event.detail;
  const isPage = target === document.body;
  folds = new Map(
    isPage ? [] : [...target.querySelectorAll('details[id]')].map(({ id, open }) => [id, open]),
  );
  focusedId = !isPage && target.contains(document.activeElement) ? document.activeElement.id : '';
});
document.addEventListener('htmx:afterSwap', () => {
  for (const [id, open] of folds) document.getElementById(id)?.toggleAttribute('open', open);
  if (focusedId && document.activeElement === document.body)
    document.getElementById(focusedId)?.focus({ preventScroll: true });
});

/**
 * Who goes to another page by keyboard or hears it read goes on at its content; what has the focus
 * there already keeps it.
 */
document.addEventListener('htmx:afterSettle', ({ detail }) => {
  if (detail.target === document.body && document.activeElement === document.body)
    document.getElementById('main')?.focus({ preventScroll: true });
});

/**
 * [data-shown-once] is taken off a page that is left, so that going back does not show it again.
 */
addEventListener('pagehide', () =>
  document.querySelectorAll('[data-shown-once]').forEach((secret) => secret.remove()),
);

/**
 * <input type="datetime-local" data-own-zone>: the server's UTC as the reader's own time; the
 * form's `offset` says which that is.
 */
const inOwnZone = () => {
  for (const input of document.querySelectorAll('input[data-own-zone]')) {
    const time = new Date(`${input.value}Z`);
    delete input.dataset.ownZone;
    input.dataset.local = '';
    input.form.querySelector('[data-zone]').textContent =
      Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (Number.isNaN(time.getTime())) continue;
    input.value = new Date(time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  }
};
document.addEventListener('DOMContentLoaded', inOwnZone);
document.addEventListener('htmx:load', inOwnZone);
document.addEventListener(
  'submit',
  (event) => {
    for (const input of event.target.querySelectorAll('input[data-local]'))
      input.form.elements.offset.value = new Date(input.value).getTimezoneOffset() || 0;
  },
  true,
);

/**
 * Conversations. [data-live] parts load again by themselves: what is open or half written in them
 * stays, and nothing moves when nothing has changed.
 */
const lastAnswer = new WeakMap();
let kept = [];
document.addEventListener('htmx:beforeSwap', (event) => {
  const part = event.detail.target;
  kept = [];
  if (!part.matches?.('[data-live]')) return;
  const answer = event.detail.serverResponse;
  if (event.detail.xhr.status !== 200 || lastAnswer.get(part) === answer)
    return void (event.detail.shouldSwap = false);
  lastAnswer.set(part, answer);
  const isTouched = (field) =>
    field.matches('select') ? field === document.activeElement : field.value !== field.defaultValue;
  kept = [
    ...part.querySelectorAll(
      'details[open][id], input[id]:not([type=hidden]), textarea[id], select[id]',
    ),
  ]
    .filter((each) => each.matches('details') || isTouched(each))
    .map(({ id, value, selectionStart }) => ({ id, value, selectionStart }));
});
document.addEventListener('htmx:afterSwap', () => {
  for (const { id, value, selectionStart } of kept.splice(0)) {
    const element = document.getElementById(id);
    if (!element) continue;
    if (element.matches('details')) element.open = true;
    else element.value = value;
    if (element === document.activeElement && selectionStart != null)
      element.setSelectionRange(selectionStart, selectionStart);
  }
});

/** [data-keep-scroll] stays where it was scrolled to when its page or its part is loaded again. */
const scrolled = new Map();
document.addEventListener('htmx:beforeSwap', () => {
  for (const list of document.querySelectorAll('[data-keep-scroll][id]'))
    scrolled.set(list.id, list.scrollTop);
});
document.addEventListener('htmx:afterSwap', () => {
  for (const list of document.querySelectorAll('[data-keep-scroll][id]'))
    list.scrollTop = scrolled.get(list.id) ?? 0;
});

/**
 * <textarea data-draft="id"> keeps what is half written while its page does other things, until it
 * is sent.
 */
const drafts = new Map();
document.addEventListener(
  'input',
  ({ target }) =>
    target.matches?.('textarea[data-draft]') && drafts.set(target.dataset.draft, target.value),
);
document.addEventListener('submit', ({ target }) =>
  target
    .querySelectorAll('textarea[data-draft]')
    .forEach(({ dataset }) => drafts.delete(dataset.draft)),
);
document.addEventListener('htmx:afterSwap', () => {
  for (const field of document.querySelectorAll('textarea[data-draft]'))
    field.value ||= drafts.get(field.dataset.draft) ?? '';
});

/** A page in the background has not been seen. */
document.addEventListener('htmx:configRequest', (event) => {
  if (document.hidden) event.detail.headers['X-Page-Hidden'] = 'yes';
});

/** Times grow older while a page is open, and say the reader's own time when asked. */
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const inWords = (exact) => {
  const ms = exact > 0 ? Math.round(exact / 60_000) * 60_000 : exact;
  for (const [unit, length] of [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ])
    if (Math.abs(ms) >= length) return relative.format(Math.trunc(ms / length), unit);
  return 'now';
};
const refreshTimes = (root = document) => {
  for (const time of root.querySelectorAll('time[data-ago]')) {
    const at = new Date(time.dateTime);
    time.textContent = inWords(at - Date.now());
    time.title = at.toLocaleString();
  }
};
setInterval(() => document.hidden || refreshTimes(), 30_000);

/** What has to be corrected in a form that came back gets the focus. */
const toProblem = () => {
  const field = document.querySelector('main [aria-invalid="true"]');
  field?.focus();
  field?.scrollIntoView({ block: 'center' });
};
document.addEventListener('DOMContentLoaded', toProblem);
document.addEventListener('htmx:afterSettle', (event) => {
  // A page that came by htmx is scrolled to its top after this event.
  if (event.detail.target === document.body) setTimeout(toProblem);
});
