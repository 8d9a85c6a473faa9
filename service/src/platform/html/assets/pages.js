// Of several pages on their way, the one asked for last is shown, not the one that comes last.
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
    showToast('What you sent before was refused. Go back to see why.', 'warning');
});
