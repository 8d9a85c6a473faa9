// What pages do where something can be written or pressed. They may load after such a page is there.
import './announcer.js';
import './copying.js';
import './drafts.js';
import './forms.js';
import './presence.js';
import './sending.js';

/** A team without canned replies needs no way to choose one. */
document.addEventListener('htmx:afterSettle', () => {
  if (document.getElementById('canned')) void import('./canned-replies.js');
});
