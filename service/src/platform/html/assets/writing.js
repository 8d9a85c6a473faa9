// What pages do where something can be written or pressed. They may load after such a page is there.
import './announcer.js';
import './copying.js';
import './drafts.js';
import './forms.js';
import './presence.js';
import './sending.js';

/** A team without canned replies needs no way to choose one: `/` says where they are made. */
document.addEventListener('htmx:afterSettle', () => {
  if (document.querySelector('#canned li')) void import('./canned-replies.js');
});
document.addEventListener('input', ({ target }) => {
  const empty = document.querySelector('#canned[data-empty]');
  if (empty && target.matches('[data-canned]')) empty.open = target.value.startsWith('/');
});
