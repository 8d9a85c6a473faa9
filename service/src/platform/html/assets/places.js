// A reader keeps their place when a page or a part of it reloads: scroll, focus and what is open.

/** [data-follow] stays at its end when something is added, unless its reader has scrolled up. */
const followedList = () => document.querySelector('[data-follow]');
let lastList = null;
let atEnd = true;
const scrollToEnd = () => {
  const list = followedList();
  // The list of a new page starts at its end.
  if (list !== lastList) [lastList, atEnd] = [list, true];
  if (list && atEnd) list.scrollTop = list.scrollHeight;
};
document.addEventListener(
  'scroll',
  (event) => {
    if (event.target === followedList())
      atEnd = event.target.scrollHeight - event.target.scrollTop - event.target.clientHeight < 40;
  },
  true,
);
document.addEventListener('htmx:afterSettle', scrollToEnd);
document.addEventListener('DOMContentLoaded', scrollToEnd);
addEventListener('resize', scrollToEnd);

/** When a part of a page reloads, what was open or folded stays so, and the focus stays. */
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
 * A new page that does not place the focus itself gets it on its content, for keyboards and screen
 * readers.
 */
document.addEventListener('htmx:afterSettle', ({ detail }) => {
  if (detail.target === document.body && document.activeElement === document.body)
    document.getElementById('main')?.focus({ preventScroll: true });
});

/**
 * [data-keep-scroll] keeps its scroll position when its page or its part reloads. Its value tells one
 * list from another.
 */
const scrolled = new Map();
const listOf = ({ id, dataset }) => `${id} ${dataset.keepScroll}`;
document.addEventListener('htmx:beforeSwap', () => {
  for (const list of document.querySelectorAll('[data-keep-scroll][id]'))
    scrolled.set(listOf(list), list.scrollTop);
});
document.addEventListener('htmx:afterSwap', () => {
  for (const list of document.querySelectorAll('[data-keep-scroll][id]'))
    list.scrollTop = scrolled.get(listOf(list)) ?? 0;
});
