// Of several pages that are on their way, the one that was asked for last is shown. htmx would show
// whichever comes last, under the address of another.
import { showToast } from './toasts.js';

let newest = null;
document.addEventListener('htmx:beforeRequest', ({ detail: { target, xhr } }) => {
  if (target === document.body) newest = xhr;
});
document.addEventListener('htmx:beforeSwap', (event) => {
  const { target, xhr, requestConfig } = event.detail;
  if (target !== document.body || xhr === newest) return;
  event.detail.shouldSwap = false;
  if (requestConfig.verb === 'post' && xhr.status >= 400)
    showToast('What you sent before was refused. Go back to that page to see why.', 'warning');
});
