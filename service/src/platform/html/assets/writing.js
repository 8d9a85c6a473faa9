// The scripts of pages with forms or buttons. They may load after the page.
import './announcer.js';
import './copying.js';
import './drafts.js';
import './forms.js';
import './presence.js';
import './sending.js';

/** The picker loads once the team has canned replies. Until then, `/` says where to make them. */
document.addEventListener('htmx:afterSettle', () => {
  if (document.querySelector('#canned li')) void import('./canned-replies.js');
});
document.addEventListener('input', ({ target }) => {
  const empty = document.querySelector('#canned[data-empty]');
  if (empty && target.matches('[data-canned]')) empty.open = target.value.startsWith('/');
});
