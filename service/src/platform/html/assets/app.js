// What the team's pages do beyond links and forms, a file for each subject. Each page works without.
import './alerts.js';
import './announcer.js';
import './connection.js';
import './copying.js';
import './counts.js';
import './drafts.js';
import './forms.js';
import './live.js';
import './places.js';
import './presence.js';
import './progress.js';
import './sending.js';
import './shortcuts.js';
import './times.js';
