#!/usr/bin/env node
/**
 * The command. It checks Node's version before anything is loaded that an older one cannot read.
 */
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `conversation-service needs Node 24 or newer; this is ${process.version}.\n`,
  );
  process.exit(1);
}
// Name look-ups and disk writes share these threads: four slow names must not hold up the journal.
process.env.UV_THREADPOOL_SIZE ??= '16';
const { runCommandLine } = await import('./cli/commandLine.ts');
await runCommandLine();

export {};
