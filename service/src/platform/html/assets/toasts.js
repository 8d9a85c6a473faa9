// Notices at the edge of the page. Each is shown once.

/**
 * Says what just happened.
 * @param tone success, warning or danger
 * @param link a link after the text, as `{ href, label }`
 */
export function showToast(text, tone = 'success', link = null) {
  const toast = document.createElement('div');
  toast.className = `toast toast-${tone}`;
  const words = document.createElement('p');
  words.textContent = text;
  if (link !== null) words.append(' ', linkTo(link));
  const dismiss = document.createElement('button');
  dismiss.type = 'button';
  dismiss.className = 'dismiss';
  dismiss.setAttribute('aria-label', 'Dismiss');
  toast.append(words, dismiss);
  document.getElementById('toasts')?.append(toast);
}

function linkTo({ href, label }) {
  const link = document.createElement('a');
  link.href = href;
  link.textContent = label;
  return link;
}

/**
 * Removes the notice's code from the page's address, so that neither a reload nor a shared link
 * shows the notice again. Then adds the notice to the page once more: screen readers announce only
 * what is added.
 */
function takeNotice() {
  const toasts = document.getElementById('toasts');
  const notice = toasts?.querySelector('[data-notice]');
  if (!notice) return;
  const address = new URL(location.href);
  address.searchParams.delete('notice');
  history.replaceState(history.state, '', address);
  delete notice.dataset.notice;
  notice.remove();
  requestAnimationFrame(() => toasts.append(notice));
}
addEventListener('DOMContentLoaded', takeNotice);
addEventListener('htmx:afterSettle', takeNotice);
if (document.readyState !== 'loading') takeNotice();

document.addEventListener(
  'click',
  (event) => {
    const dismiss = event.target.closest?.('.toast .dismiss');
    if (!dismiss) return;
    event.preventDefault();
    event.stopPropagation();
    dismiss.closest('.toast').remove();
  },
  true,
);

/** Removes a toast that has faded. */
addEventListener('animationend', ({ target, animationName }) => {
  if (animationName === 'toast-leaves') target.remove();
});
