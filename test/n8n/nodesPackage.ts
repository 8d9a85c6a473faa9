// Our package as n8n's users get it: packed from the built repository and installed with npm in
// .n8n/nodes.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNpm } from '../helpers/pinnedPackages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Packs the repository's nodes and installs the tarball into an n8n user folder.
 * The caller has built them: `--ignore-scripts` keeps `npm pack` from running `prepack`.
 */
export async function installNodesPackage(userFolder: string, log: string): Promise<void> {
  const tarballs = join(userFolder, 'tarball');
  const nodes = join(userFolder, '.n8n', 'nodes');
  await mkdir(tarballs, { recursive: true });
  await mkdir(nodes, { recursive: true });
  await runNpm(['pack', '--ignore-scripts', '--pack-destination', tarballs], root, log);
  const [tarball] = await readdir(tarballs);
  await writeFile(join(nodes, 'package.json'), '{"name":"installed-nodes","private":true}\n');
  // n8n leaves peer dependencies out too, because it brings n8n-workflow itself.
  await runNpm(
    [
      'install',
      join(tarballs, tarball!),
      '--ignore-scripts',
      '--legacy-peer-deps',
      '--no-audit',
      '--no-fund',
    ],
    nodes,
    log,
  );
}
