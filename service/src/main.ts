#!/usr/bin/env node
/** The command. It checks Node's version before it loads code that an older Node cannot parse. */
import { accessSync, constants } from 'node:fs';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `conversation-service needs Node 24 or newer; this is ${process.version}.\n`,
  );
  process.exit(1);
}
// The settings in the folder that it is started in. Those in the environment take precedence.
try {
  // Node takes a file that it may not read for one that is missing.
  accessSync('.env', constants.R_OK);
  process.loadEnvFile('.env');
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT') {
    process.stderr.write(`conversation-service: .env cannot be read: ${message}\n`);
    process.exit(1);
  }
}
// DNS look-ups and disk writes share these threads. With Node's default of four, four slow
// look-ups would delay the journal.
process.env.UV_THREADPOOL_SIZE ??= '16';
const { runCommandLine } = await import('./cli/commandLine.ts');
await runCommandLine();
