// `npm start`: builds what is stale, then runs the service in this very process. Containers and
// service managers run `node scripts/start.mjs` itself, to which SIGTERM comes directly.
import './require-node.mjs';
import { buildService } from './build.mjs';

buildService();

await import('../service/dist/main.js');
