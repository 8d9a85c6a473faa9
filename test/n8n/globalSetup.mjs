import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import build from '../globalSetup.mjs';

/**
 * Builds what is out of date and installs n8n if it is missing, outside the time limit of any test.
 */
export default function globalSetup() {
  build();
  const installer = fileURLToPath(new URL('runtime.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, [installer, '--quiet'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('n8n could not be installed. See the error above.');
}
