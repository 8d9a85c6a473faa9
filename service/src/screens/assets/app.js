// What the pages do beyond links and forms: small, and each page works without it.

/** <button data-copy="#id"> copies the text of another element. */
document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('[data-copy]');
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  await navigator.clipboard.writeText(source.value ?? source.textContent);
  const label = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = label), 1500);
});

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
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !event.target.matches?.('textarea')) return;
  event.target.form?.requestSubmit();
});

/** A list that is followed stays at its end when something is added, unless its reader has scrolled up. */
const followed = () => document.querySelector('[data-follow]');
let atEnd = true;
const toEnd = () => {
  const list = followed();
  if (list && atEnd) list.scrollTop = list.scrollHeight;
};
document.addEventListener('scroll', (event) => {
  if (event.target === followed()) atEnd = event.target.scrollHeight - event.target.scrollTop - event.target.clientHeight < 40;
}, true);
document.addEventListener('htmx:afterSwap', toEnd);
document.addEventListener('DOMContentLoaded', toEnd);

/** What was opened or folded stays so when its part of the page is loaded again, and what had the focus keeps it. */
let folds = new Map();
let focusedId = '';
document.addEventListener('htmx:beforeSwap', (event) => {
  const { target } = event.detail;
  const isPage = target === document.body;
  folds = new Map(isPage ? [] : [...target.querySelectorAll('details[id]')].map(({ id, open }) => [id, open]));
  focusedId = !isPage && target.contains(document.activeElement) ? document.activeElement.id : '';
});
document.addEventListener('htmx:afterSwap', () => {
  for (const [id, open] of folds) document.getElementById(id)?.toggleAttribute('open', open);
  if (focusedId && document.activeElement === document.body) document.getElementById(focusedId)?.focus({ preventScroll: true });
});

/** [data-shown-once] is taken off a page that is left, so that going back does not show it again. */
addEventListener('pagehide', () => document.querySelectorAll('[data-shown-once]').forEach((secret) => secret.remove()));

/** <input type="datetime-local" data-own-zone>: the server's UTC as the reader's own time; the form's `offset` says which that is. */
const inOwnZone = () => {
  for (const input of document.querySelectorAll('input[data-own-zone]')) {
    const time = new Date(`${input.value}Z`);
    delete input.dataset.ownZone;
    input.dataset.local = '';
    input.form.querySelector('[data-zone]').textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (Number.isNaN(time.getTime())) continue;
    input.value = new Date(time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  }
};
document.addEventListener('DOMContentLoaded', inOwnZone);
document.addEventListener('htmx:load', inOwnZone);
document.addEventListener('submit', (event) => {
  for (const input of event.target.querySelectorAll('input[data-local]')) input.form.elements.offset.value = new Date(input.value).getTimezoneOffset() || 0;
}, true);
