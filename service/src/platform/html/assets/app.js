// What every page of the team does beyond links, a file for each subject. Each page works without.
import './alerts.js';
import './connection.js';
import './counts.js';
import './live.js';
import './places.js';
import './progress.js';
import './shortcuts.js';
import './times.js';
import './toasts.js';

/** A list has no forms. Where a link leads on from it, their scripts and styles come too. */
document.addEventListener('htmx:beforeRequest', ({ detail }) => {
  if (!detail.boosted) return;
  void import('./writing.js');
  document.getElementById('sections').rel = 'stylesheet';
});
