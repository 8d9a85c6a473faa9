import { readConfig, type Config } from '../app/config.ts';
import { collections } from '../app/collections.ts';
import type { ServiceStore } from '../store/collections.ts';
import type { Tally } from '../moving/exportFormat.ts';
import { openStore, type OpenStoreOptions } from '../store/openStore.ts';
import type { Logger } from '../store/clockAndLog.ts';
import { WORK_QUEUES } from '../app/workQueues.ts';

/** What all commands share: how they open the store, and how they fail. */

/** Runs a command. If it fails, the process exits with one line that says why. */
export async function runOrFail(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    failInOneLine(error);
  }
}

/** Exits with one line that says what is wrong. With LOG_LEVEL=debug, the stack follows. */
export function failInOneLine(error: unknown): never {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`conversation-service: ${message.split('\n')[0]}\n`);
  if (process.env.LOG_LEVEL === 'debug' && stack) process.stderr.write(`${stack}\n`);
  process.exit(1);
}

/** Warnings go to standard error: standard output belongs to the result of the command. */
const warn = (message: string): void => void process.stderr.write(`${message}\n`);
const log: Logger = { info() {}, warn, error: warn };

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
    log,
    queues: WORK_QUEUES,
    embedded: { indexesWords: false },
    postgres: { works: false, connections: 2, ...postgres },
  });
  try {
    return await run(store, config);
  } finally {
    await store.close();
  }
}

const INTERVAL_MS = 5_000;

/** Reports the progress of a long command on standard error, every few seconds. */
export class Progress {
  total = 0;
  private readonly timer: NodeJS.Timeout;

  /** @param doing `exported` */
  constructor(doing: string) {
    this.timer = setInterval(
      () => process.stderr.write(`${this.total} records ${doing} so far …\n`),
      INTERVAL_MS,
    ).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/**
 * A line for each collection with its count, then the checksum. An export and its import print the
 * same lines.
 */
export function tallyLines({ counts, sha256 }: Tally): string {
  const width = Math.max(...Object.keys(counts).map((name) => name.length));
  const lines = Object.entries(counts).map(
    ([name, count]) => `  ${name.padEnd(width)}  ${count}\n`,
  );
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${lines.join('')}  ${'records in all'.padEnd(width)}  ${total}\n  sha256  ${sha256}\n`;
}
