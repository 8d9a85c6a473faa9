import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BUILD = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url));
const PROGRAMS = ['../service/src/app/service.ts', '../service/dist/cli/runService.js'].map(
  (path) => new URL(path, import.meta.url).href,
);

/**
 * Builds what is stale before any test runs: several suites load the nodes from dist/ or start the
 * service from service/dist/.
 */
export default function globalSetup() {
  const { status } = spawnSync(process.execPath, [BUILD], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed; see above.');
  keepCompiledSource();
}

/**
 * Many suites start processes and threads, hundreds in all. Node keeps what it compiled in this
 * folder, which halves the cost of each that runs from source. A process that is killed keeps
 * nothing, so one that ends in order comes first.
 */
function keepCompiledSource() {
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'conversation-service-compiled');
  for (const program of PROGRAMS)
    spawnSync(process.execPath, ['--input-type=module', '--eval', `await import('${program}')`]);
}
