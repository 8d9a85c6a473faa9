// `npm start`: builds what is stale, then runs the service in this same process. A service manager
// that runs `node scripts/start.mjs` sends its SIGTERM straight to the service.
import './require-node.mjs';
import { buildService } from './build.mjs';

buildService();

await import('../service/dist/main.js');
