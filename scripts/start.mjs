// `npm start`: builds what is stale, then runs the service in this very process, so that a
// SIGTERM sent to npm's child reaches the service itself.
import { existsSync } from 'node:fs';
import './require-node.mjs';
import { buildService } from './build.mjs';

if (existsSync('.env')) process.loadEnvFile('.env');
buildService();
await import('../service/dist/main.js');
