// What the team's pages do beyond links and forms, a file for each subject. Each page works without.
import './connection.js';
import './copying.js';
import './forms.js';
import './live.js';
import './places.js';
import './times.js';
