import { jsonIn } from '../platform/json.ts';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { VERSION } from '../platform/version.ts';
import { inWords } from '../store/lowdb/errors.ts';
import { withFile } from '../platform/files.ts';
import { nodeFiles } from '../store/lowdb/index.ts';

/**
 * A backup is a folder: the files of a data folder as they were at one moment, or a dump of
 * PostgreSQL, and `backup.json` with the checksum of each.
 * @see docs/operations.md, "Backup and restore"
 */
export interface BackupManifest {
  readonly format: typeof FORMAT;
  readonly version: typeof FORMAT_VERSION;
  /** The version of conversation-service. */
  readonly made_by: string;
  /** When the backup began. */
  readonly at: string;
  readonly store: 'folder' | 'postgresql';
  /** PostgreSQL: the schema of the tables. */
  readonly schema: string | null;
  /** The fingerprint of the key that seals its secrets, where it is known. */
  readonly key_fingerprint: string | null;
  readonly files: readonly BackupFile[];
}

interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

const FORMAT = 'conversation-service backup';
const FORMAT_VERSION = 1;
const MANIFEST = 'backup.json';
export const DUMP_FILE = 'service.dump';

/** Thrown for a folder that is not a whole, unchanged backup. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/** What `fill` has put into the folder of a backup. */
export type BackupParts = Pick<BackupManifest, 'store' | 'schema' | 'key_fingerprint'> & {
  readonly names: readonly string[];
};

/**
 * Makes a new backup. Its name appears only when all of it is on the disk.
 * @param to the folder in which the backup's own folder is made
 * @param fill puts the files into a folder that only its owner may read
 * @returns the folder of the backup
 */
export async function makeBackup(
  to: string,
  at: Date,
  fill: (folder: string) => Promise<BackupParts>,
): Promise<{ folder: string; manifest: BackupManifest }> {
  const folder = join(resolve(to), nameOf(at));
  const taken = new Error(`${folder} exists already. Wait a second, then try again.`);
  if ((await stat(folder).catch(() => null)) !== null) throw taken;
  const part = `${folder}.part`;
  const makeFolder = (path: string) =>
    orCannotWrite(folder, mkdir(path, { recursive: true, mode: 0o700 }));
  await makeFolder(dirname(part));
  // Of two backups in the same second, only one makes the folder; the other finds it there.
  if ((await makeFolder(part)) === undefined) throw taken;
  try {
    const { names, ...about } = await fill(part);
    const files: BackupFile[] = [];
    for (const name of names) files.push(await describeFile(part, name));
    const manifest: BackupManifest = {
      format: FORMAT,
      version: FORMAT_VERSION,
      made_by: VERSION,
      at: at.toISOString(),
      ...about,
      files,
    };
    await orCannotWrite(folder, writeDurably(join(part, MANIFEST), manifest));
    await orCannotWrite(folder, publish(part, folder));
    return { folder, manifest };
  } finally {
    await rm(part, { recursive: true, force: true }).catch(() => {});
  }
}

const nameOf = (at: Date) =>
  `conversation-service-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;

async function describeFile(folder: string, name: string): Promise<BackupFile> {
  const path = join(folder, name);
  const { size } = await stat(path);
  return { name, bytes: size, sha256: await sha256Of(path) };
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 }))
    hash.update(piece as Buffer);
  return hash.digest('hex');
}

const writeDurably = (path: string, manifest: BackupManifest): Promise<void> =>
  withFile(nodeFiles, path, 'w', async (file) => {
    await file.write(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), 0);
    await file.sync();
  });

async function publish(part: string, folder: string): Promise<void> {
  await nodeFiles.syncFolder(part);
  await rename(part, folder);
  await nodeFiles.syncFolder(dirname(folder));
}

async function orCannotWrite<T>(folder: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw new Error(`${folder} cannot be written: ${inWords(error)}. No backup was made.`, {
      cause: error,
    });
  }
}

/**
 * Reads a backup's manifest and compares every file with its checksum.
 * @throws BackupRefused that names the file
 */
export async function readBackup(folder: string): Promise<BackupManifest> {
  const manifest = await readManifest(folder);
  for (const { name, bytes, sha256 } of manifest.files) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found === null) throw new BackupRefused(`${name} is missing.`);
    if (found.size !== bytes)
      throw new BackupRefused(`${name} has ${found.size} bytes in place of ${bytes}.`);
    if ((await sha256Of(path)) !== sha256)
      throw new BackupRefused(`${name} was changed or damaged: its checksum does not match.`);
  }
  return manifest;
}

async function readManifest(folder: string): Promise<BackupManifest> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8');
  } catch (error) {
    throw new BackupRefused(`${MANIFEST} cannot be read (${inWords(error)}).`, { cause: error });
  }
  const manifest = jsonIn(text) as BackupManifest | null | undefined;
  if (
    manifest?.format !== FORMAT ||
    !Array.isArray(manifest.files) ||
    !manifest.files.every(hasName)
  )
    throw new BackupRefused(`${MANIFEST} does not describe a backup.`);
  if (manifest.version !== FORMAT_VERSION)
    throw new BackupRefused(
      `It was made by conversation-service ${manifest.made_by}, in a format that this version (${VERSION}) does not know.`,
    );
  if (manifest.files.some(({ name }) => name !== basename(name)))
    throw new BackupRefused(`${MANIFEST} names a file outside of the backup.`);
  return manifest;
}

const hasName = (file: unknown): boolean =>
  typeof (file as Partial<BackupFile> | null)?.name === 'string';
