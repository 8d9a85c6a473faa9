// Where PostgreSQL's programs are, and as which user they run.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian keeps each version in a folder of its own, off the PATH. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

export const INSTALL_POSTGRES =
  'PostgreSQL is not installed. Install it: `apt-get install -y postgresql` (Debian, Ubuntu), `dnf install -y postgresql-server` (Fedora), `brew install postgresql` (macOS). Or set DATABASE_URL to a server of your own.';

/** Where `initdb` and `postgres` may be: Debian's newest version first, then the PATH. */
const postgresFolders = (): readonly string[] => [
  ...debianFolders(),
  ...(process.env.PATH ?? '').split(delimiter),
];

/** The first folder that holds PostgreSQL's programs; null when there is none. */
export function findPostgres(folders = postgresFolders()): string | null {
  return (
    folders.find(
      (folder) =>
        folder !== '' && ['initdb', 'postgres'].every((name) => isProgram(join(folder, name))),
    ) ?? null
  );
}

/**
 * PostgreSQL refuses to run as root: root runs it as the user that its package makes.
 * @returns the user and group to run as; nothing when we are not root
 * @throws Error when root has no such user
 */
export function postgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number.parseInt(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout, 10),
  );
  if (!uid || !gid)
    throw new Error(
      'PostgreSQL refuses to run as root, and there is no user `postgres` to run it as. Make one (`useradd --system postgres`), or run this as another user.',
    );
  return { uid, gid };
}

function debianFolders(): string[] {
  try {
    const versions = readdirSync(DEBIAN_FOLDER).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(DEBIAN_FOLDER, version, 'bin'));
  } catch {
    return [];
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Installs PostgreSQL from the system's packages where that is possible.
 * @returns null, or why there is none and what to do
 */
export function ensurePostgres(): string | null {
  if (findPostgres() !== null) return null;
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0)
    return INSTALL_POSTGRES;
  console.log('Installing PostgreSQL by apt-get');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', 'postgresql'],
  ]) {
    const { status, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8' });
    if (status !== 0) return `${INSTALL_POSTGRES}\nHere apt-get could not: ${stderr.trim()}`;
  }
  return findPostgres() === null ? INSTALL_POSTGRES : null;
}
