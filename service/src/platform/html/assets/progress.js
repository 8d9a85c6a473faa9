// On a slow network a page says that something is on its way.

const PATIENCE_MS = 400;

const bar = document.createElement('div');
bar.className = 'progress';
bar.setAttribute('role', 'progressbar');
bar.setAttribute('aria-label', 'Loading');

const open = new Set();
let timer;
const isInBackground = (element) => element.matches?.('[hx-trigger*="live:"]');

document.addEventListener('htmx:beforeRequest', ({ detail: { elt, xhr } }) => {
  if (isInBackground(elt)) return;
  open.add(xhr);
  timer ??= setTimeout(() => document.body.append(bar), PATIENCE_MS);
  // htmx tells the end to the element alone, which a live part may have replaced in the meantime.
  xhr.addEventListener('loadend', () => end(xhr));
});
function end(xhr) {
  open.delete(xhr);
  if (open.size > 0) return;
  clearTimeout(timer);
  timer = undefined;
  bar.remove();
}
