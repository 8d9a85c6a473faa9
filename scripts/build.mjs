// Builds what is stale: the service (tsc's own incremental build) and the nodes (n8n's build).
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program of a package in this Node: on Windows, its link in .bin would need a shell. */
function run(program, args) {
  const path = join(root, 'node_modules', program);
  const { status, error } = spawnSync(process.execPath, [path, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** When a file, or anything in a folder, last changed; 0 when there is none. */
function changedAtMs(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  // A folder's own time tells that a file was removed.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedAtMs(join(path, name))));
}

const isNewer = (source, built) =>
  statSync(source).isDirectory() || changedAtMs(source) > changedAtMs(built);

/** Leaves what is up to date alone: a running service may be reading it. */
const copyToDist = (source, folder) =>
  cpSync(join(root, source), join(root, 'service/dist', folder), {
    recursive: true,
    filter: isNewer,
  });

/**
 * Compiles what is stale of service/src to service/dist, and copies the pages' assets and the
 * example workflows there.
 */
export function buildService() {
  run('typescript/bin/tsc', ['-b', 'service']);
  copyToDist('service/src/platform/html/assets', 'platform/html/assets');
  copyToDist('examples/workflows', 'examples');
}

/** Builds dist/nodes and dist/credentials with n8n's own command, when a source is newer. */
export function buildNodes() {
  const sources = ['nodes', 'credentials', 'package.json', 'tsconfig.json'];
  const sourcesChangedAtMs = Math.max(...sources.map((path) => changedAtMs(join(root, path))));
  // Written when a build has ended. n8n-node begins by removing dist, and this stamp with it.
  const stamp = join(root, 'dist', '.built');
  if (changedAtMs(stamp) > sourcesChangedAtMs) return;
  run('@n8n/node-cli/bin/n8n-node.mjs', ['build']);
  // n8n-node copies every picture of the repository; only those of the nodes belong to the package.
  for (const entry of readdirSync(join(root, 'dist'), { withFileTypes: true })) {
    if (entry.isDirectory() && !['nodes', 'credentials'].includes(entry.name)) {
      rmSync(join(root, 'dist', entry.name), { recursive: true });
    }
  }
  writeFileSync(stamp, '');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  buildService();
  buildNodes();
}
