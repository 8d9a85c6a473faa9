import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import build from '../globalSetup.mjs';

/**
 * Builds what is stale, and installs n8n where it is missing, outside of any test's time limit.
 */
export default function globalSetup() {
  build();
  const { status } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('runtime.ts', import.meta.url)), '--quiet'],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error('n8n could not be installed; see above.');
}
