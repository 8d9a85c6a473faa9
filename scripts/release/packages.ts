// What the two packages and the documents say of the repository, in one place.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders of what is published, with package.json, README.md and LICENSE. */
export const PACKAGES = ['.', 'service'];

export interface Repository {
  readonly owner: string;
  readonly name: string;
  /** The maintainer whom npm shows, and whom n8n compares with the repository's owner. */
  readonly author: { readonly name: string; readonly email: string };
  /** Its address for browsers. */
  readonly page: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;
const writeJson = (path: string, value: unknown) =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

export const manifestOf = (root: string, folder: string): Manifest =>
  readJson<Manifest>(join(root, folder, 'package.json'));

/** The version that all packages share. */
export function currentVersion(root: string): string {
  const versions = new Set(PACKAGES.map((folder) => manifestOf(root, folder).version));
  if (versions.size > 1)
    throw new Error(`The packages differ in version: ${[...versions].join(', ')}`);
  return [...versions][0]!;
}

/**
 * Where the code will be, from .github/repository.json. That file is the only place to fill in.
 * @returns null until owner and author are filled in
 */
export function readRepository(root: string): Repository | null {
  const { owner, name, author } = readJson<Omit<Repository, 'page'>>(
    join(root, '.github/repository.json'),
  );
  if (owner === '' || author.name === '' || author.email === '') return null;
  if (!/^[A-Za-z0-9](?:-?[A-Za-z0-9])*$/.test(owner))
    throw new Error(
      `.github/repository.json: ${JSON.stringify(owner)} is no owner of repositories.`,
    );
  return { owner, name, author, page: `https://github.com/${owner}/${name}` };
}

/** The fields of package.json that name the repository; none while there is no repository. */
export function addressesOf(repository: Repository | null, folder: string): object {
  if (repository === null) return {};
  const url = `git+${repository.page}.git`;
  return {
    repository: { type: 'git', url, ...(folder === '.' ? {} : { directory: folder }) },
    bugs: `${repository.page}/issues`,
  };
}

/** Documents that a release changes. */
export const DOCUMENTS = ['README.md', 'service/README.md', 'docs/self-hosting.md'];

/**
 * Puts owner and version into each image's name, `ghcr.io/<owner>/…:<version>`, so that a line can
 * be copied as it is. Makes the links of the service's README absolute, since npm shows it without
 * the repository. Replaces what a former release wrote.
 */
export function updateDocuments(root: string, version: string, { owner, page }: Repository): void {
  const nameImages = (text: string) =>
    text
      .replace(/(ghcr\.io)\/[^/\s]+\/(conversation-service)/g, `$1/${owner.toLowerCase()}/$2`)
      .replace(/(ghcr\.io\/[^:\s]+):\d+\.\d+\.\d+/g, `$1:${version}`);
  const makeAbsolute = (text: string) =>
    text.replace(/\]\((\.\.\/|https:[^\s)]+\/blob\/v[\d.]+\/)/g, `](${page}/blob/v${version}/`);
  for (const document of DOCUMENTS) {
    const path = join(root, document);
    const named = nameImages(readFileSync(path, 'utf8'));
    writeFileSync(path, document.startsWith('service/') ? makeAbsolute(named) : named);
  }
}

/** The parts of package-lock.json that carry the version. */
interface Lock {
  version: string;
  readonly packages: Readonly<Record<'' | 'service', { version: string }>>;
}

/** Sets version, addresses and author in each package.json, and the version in the lock file. */
export function writeManifests(root: string, version: string, repository: Repository | null): void {
  for (const folder of PACKAGES) {
    const path = join(root, folder, 'package.json');
    const { repository: _, bugs: __, ...rest } = readJson<Record<string, unknown>>(path);
    const { author } = repository ?? rest;
    const entries = Object.entries({ ...rest, version, author });
    // Behind the homepage, where npm writes them too.
    const index = entries.findIndex(([name]) => name === 'homepage') + 1;
    entries.splice(index, 0, ...Object.entries(addressesOf(repository, folder)));
    writeJson(path, Object.fromEntries(entries));
  }
  const lockFile = join(root, 'package-lock.json');
  if (!existsSync(lockFile)) return;
  const lock = readJson<Lock>(lockFile);
  lock.version = version;
  lock.packages[''].version = version;
  lock.packages.service.version = version;
  writeJson(lockFile, lock);
}
