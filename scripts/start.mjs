// `npm start`: builds what is stale, then runs the service in this very process. Containers and
// service managers run `node scripts/start.mjs` itself, to which SIGTERM comes directly.
import { existsSync } from 'node:fs';
import './require-node.mjs';
import { buildService } from './build.mjs';

if (existsSync('.env')) process.loadEnvFile('.env');
buildService();

// npm passes a SIGTERM on to its shell alone: when that is gone, nobody is left to stop the
// service.
if (process.env.npm_lifecycle_event === 'start') {
  const shell = process.ppid;
  setInterval(() => process.ppid !== shell && process.kill(process.pid, 'SIGTERM'), 250).unref();
}
await import('../service/dist/main.js');
