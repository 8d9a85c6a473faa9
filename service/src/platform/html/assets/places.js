// Where a reader was stays when a page or a part of it is loaded again: scroll, focus, what is open.

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
let openMenus = [];
let focusedId = '';
document.addEventListener('htmx:beforeSwap', (event) => {
  const { target } = event.detail;
  const isPage = target === document.body;
  folds = new Map(
    isPage ? [] : [...target.querySelectorAll('details[id]')].map(({ id, open }) => [id, open]),
  );
  openMenus = isPage
    ? []
    : [...target.querySelectorAll('[popover][id]:popover-open')].map(({ id }) => id);
  focusedId = !isPage && target.contains(document.activeElement) ? document.activeElement.id : '';
});
document.addEventListener('htmx:afterSwap', () => {
  for (const [id, open] of folds) document.getElementById(id)?.toggleAttribute('open', open);
  for (const id of openMenus.splice(0)) document.getElementById(id)?.showPopover();
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
