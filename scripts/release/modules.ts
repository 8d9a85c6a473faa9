import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Gives a clone the modules that are installed here: as hard links where the system has them, which
 * takes seconds, and otherwise by `npm ci`.
 */
export function shareModules(root: string, clone: string): void {
  const folders = ['.', 'service', 'test'].filter((folder) =>
    existsSync(join(root, folder, 'node_modules')),
  );
  const areLinked = folders.every((folder) => {
    const [from, to] = [root, clone].map((each) => join(each, folder, 'node_modules'));
    return spawnSync('cp', ['-al', from!, to!], { stdio: 'ignore' }).status === 0;
  });
  if (areLinked) return;
  for (const folder of folders)
    rmSync(join(clone, folder, 'node_modules'), { recursive: true, force: true });
  const { status } = spawnSync('npm', ['ci'], {
    cwd: clone,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('npm ci failed in the clone.');
}
