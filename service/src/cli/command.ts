// What all commands share: how they open the store, how they fail, and how they count records.
import { readConfig, type Config } from '../app/config.ts';
import { collections } from '../app/collections.ts';
import type { ServiceStore } from '../store/collections.ts';
import { findFingerprint, type KeyPlace } from '../app/encryption/openSecretBox.ts';
import { headerOf, writeExport, type Tally } from '../moving/exportFormat.ts';
import { KeyRequirement } from '../moving/keyRequirement.ts';
import { openStore, type OpenStoreOptions, type StoreLocation } from '../store/openStore.ts';
import type { Logger } from '../store/clockAndLog.ts';
import { WORK_QUEUES } from '../app/workQueues.ts';

/** The one line that says what is wrong. */
export const errorLine = ({ message }: Error): string =>
  `conversation-service: ${message.split('\n')[0]}\n`;

/** Exits with one line that says what is wrong. With LOG_LEVEL=debug, the stack follows. */
export function failInOneLine(failure: unknown): never {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const { stack } = error;
  process.stderr.write(errorLine(error));
  if (process.env.LOG_LEVEL === 'debug' && stack) process.stderr.write(`${stack}\n`);
  process.exit(1);
}

/** The address with which links to the service begin. */
export const addressOf = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  publicUrl ?? `http://localhost:${port}`;

const MAX_NAME_CHARACTERS = 100;

/** @throws Error when the value of --name is empty or too long */
export function parseName(text: string): string {
  const name = text.trim();
  if (name !== '' && [...name].length <= MAX_NAME_CHARACTERS) return name;
  throw new Error(`--name must have 1 to ${MAX_NAME_CHARACTERS} characters.`);
}

/** Warnings go to standard error: standard output belongs to the result of the command. */
const warn = (message: string): void => void process.stderr.write(`${message}\n`);
const log: Logger = { info() {}, warn, error: warn };

const STORE_OPTIONS = {
  log,
  queues: WORK_QUEUES,
  embedded: { indexesWords: false },
  postgres: { runsJobs: false, connections: 2 },
} satisfies OpenStoreOptions;

/**
 * Opens the store that the environment names, for one command. The command does no queued work.
 * @throws FolderInUse naming the process, when a running service holds the data folder
 */
export async function withStore<T>(
  run: (store: ServiceStore, config: Config) => Promise<T>,
  postgres: OpenStoreOptions['postgres'] = {},
): Promise<T> {
  const config = readConfig(process.env);
  const store = await openStore(collections, config, {
    ...STORE_OPTIONS,
    postgres: { ...STORE_OPTIONS.postgres, ...postgres },
  });
  try {
    return await run(store, config);
  } finally {
    await store.close();
  }
}

/**
 * Reads and counts everything in a store.
 * @param key where the encryption key is; null to read without checking it
 * @throws Error when the secrets in the store are sealed with another key
 */
export async function countStored(location: StoreLocation, key: KeyPlace | null): Promise<Tally> {
  const store = await openStore(collections, location, STORE_OPTIONS);
  try {
    const fingerprint = (await findFingerprint(store))?.value ?? null;
    if (key !== null) (await KeyRequirement.of(key)).check(fingerprint);
    // Always the same time, so that the same records always have the same checksum.
    const header = headerOf(new Date(0), fingerprint);
    const tally = await writeExport(store.dump(), header, async () => {});
    return tally ?? { counts: {}, sha256: 'none: nothing is stored' };
  } finally {
    await store.close();
  }
}

const INTERVAL_MS = 5_000;

/**
 * Reports the progress of a long command on standard error, every few seconds until it is disposed.
 * @param done what happened to the records: `exported`
 * @param total how many records so far
 */
export const reportProgress = (done: string, total: () => number): Disposable =>
  setInterval(
    () => process.stderr.write(`${total()} records ${done} so far …\n`),
    INTERVAL_MS,
  ).unref();

/**
 * A line for each collection with its count, then the checksum. An export and its import print the
 * same lines.
 */
export const tallyLines = ({ counts, sha256 }: Tally): string =>
  `${formatCounts(counts)}  sha256  ${sha256}\n`;

/** A line for each collection with its count, and one with their sum. */
export function formatCounts(counts: Tally['counts']): string {
  const width = Math.max(
    ...Object.keys(counts).map((name) => name.length),
    'records in all'.length,
  );
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [...Object.entries(counts), ['records in all', total] as const]
    .map(([name, count]) => `  ${name.padEnd(width)}  ${count}\n`)
    .join('');
}
