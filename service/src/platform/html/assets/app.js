// The scripts of every team page, a file for each subject. Every page works without scripts.
import './alerts.js';
import './connection.js';
import './counts.js';
import './live.js';
import './pages.js';
import './places.js';
import './progress.js';
import './shortcuts.js';
import './times.js';
import './toasts.js';

/** A page may come without writing.js and without sections.css. A link that leads on loads both. */
document.addEventListener('htmx:beforeRequest', ({ detail }) => {
  if (!detail.boosted) return;
  void import('./writing.js');
  document.getElementById('sections').rel = 'stylesheet';
});
