// On a slow network, a bar shows that something is loading.

const PATIENCE_MS = 400;

const bar = document.createElement('div');
bar.className = 'progress';
bar.setAttribute('role', 'progressbar');
bar.setAttribute('aria-label', 'Loading');

const openRequests = new Set();
let timer;
const isInBackground = (element) => element.matches?.('[hx-trigger*="live:"]');

document.addEventListener('htmx:beforeRequest', ({ detail: { elt, xhr } }) => {
  if (isInBackground(elt)) return;
  openRequests.add(xhr);
  timer ??= setTimeout(() => document.body.append(bar), PATIENCE_MS);
  // htmx reports the end to the element only, which a live part may have replaced by then.
  xhr.addEventListener('loadend', () => end(xhr));
});
function end(xhr) {
  openRequests.delete(xhr);
  if (openRequests.size > 0) return;
  clearTimeout(timer);
  timer = undefined;
  bar.remove();
}
