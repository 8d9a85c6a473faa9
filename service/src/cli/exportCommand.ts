import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readConfig } from '../app/config.ts';
import { systemClock } from '../platform/clock.ts';
import type { ServiceStore } from '../store/collections.ts';
import { findFingerprint } from '../app/encryption/openSecretBox.ts';
import { headerOf, type Tally, writeExport } from '../moving/exportFormat.ts';
import { makeNewFile } from '../moving/newFile.ts';
import { inWords } from '../store/lowdb/errors.ts';
import { describeLocation, type StoreLocation } from '../store/openStore.ts';
import { withStore, reportProgress, tallyLines } from './command.ts';

/** `conversation-service export`: writes all stored data, as of one moment, to one file. */
export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description(
      'write all stored data to one file, to import it elsewhere (DATA_DIR: while the service is stopped; DATABASE_URL: at any time)',
    )
    .requiredOption('--to <file>', 'a new file; - is standard output')
    .action(({ to }: { to: string }) => exportTo(to));
}

async function exportTo(to: string): Promise<void> {
  const location = readConfig(process.env);
  // Opening the store would create it.
  if (location.database === null && !existsSync(location.dataDir)) throw nothingThere(location);
  const { tally, keyFingerprint } = await withStore((store) =>
    to === '-' ? exportToOutput(store) : exportToFile(store, to),
  );
  if (tally === null) throw nothingThere(location);
  const target = to === '-' ? '' : ` to ${to}`;
  const keyNote = keyFingerprint === null ? '' : KEY_NOTE;
  const report = `Exported ${describeLocation(location)}${target}:\n${tallyLines(tally)}${keyNote}`;
  (to === '-' ? process.stderr : process.stdout).write(report);
}

const KEY_NOTE =
  'Its secrets stay sealed. To import it, you need the same key (ENCRYPTION_KEY, or encryption.key in DATA_DIR). Keep that key like a password.\n';

const nothingThere = (location: StoreLocation) =>
  new Error(
    `There is nothing to export: ${describeLocation(location)} is empty. Check that DATA_DIR or DATABASE_URL is the one that the service uses.`,
  );

interface Exported {
  /** Null when nothing is stored. */
  readonly tally: Tally | null;
  readonly keyFingerprint: string | null;
}

async function exportToFile(store: ServiceStore, path: string): Promise<Exported> {
  let exported: Exported | undefined;
  await makeNewFile(path, async (write) => {
    exported = await exportWith(store, write);
    return exported.tally !== null;
  });
  return exported!;
}

async function exportToOutput(store: ServiceStore): Promise<Exported> {
  process.stdout.on('error', () => {}); // each write reports its own error
  return exportWith(store, writeToOutput);
}

const writeToOutput = (piece: Buffer) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(piece, (error) => {
      if (error == null) resolve();
      else
        reject(
          new Error(
            `Standard output cannot be written: ${inWords(error)}. What was written is not a complete export.`,
            { cause: error },
          ),
        );
    });
  });

async function exportWith(
  store: ServiceStore,
  write: (piece: Buffer) => Promise<void>,
): Promise<Exported> {
  let total = 0;
  using _progress = reportProgress('exported', () => total);
  const keyFingerprint = (await findFingerprint(store))?.value ?? null;
  const header = headerOf(systemClock.now(), keyFingerprint);
  const tally = await writeExport(store.dump(), header, write, (written) => (total = written));
  return { tally, keyFingerprint };
}
