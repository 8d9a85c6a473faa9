import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BUILD = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url));

/**
 * Builds what is stale before any test runs: several suites load the nodes from dist/ or start the
 * service from service/dist/.
 * A process of its own, because jest's module hooks reach into what a global setup imports.
 */
export default function globalSetup() {
  const { status } = spawnSync(process.execPath, [BUILD], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed; see above.');
}
