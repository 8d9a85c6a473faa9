import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Installs n8n outside of any test's time limit; does nothing when it is there.
 * A process of its own, because jest's module hooks reach into what a global set-up imports.
 */
export default function globalSetup() {
  const { status } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('runtime.ts', import.meta.url)), '--quiet'],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error('n8n could not be installed; see above.');
}
