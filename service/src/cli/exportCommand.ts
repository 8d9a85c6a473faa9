import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { systemClock } from '../domain/clock.ts';
import type { ServiceStore } from '../domain/collections.ts';
import { findFingerprint } from '../encryption/openSecretBox.ts';
import { headerOf, type Tally } from '../moving/exportFormat.ts';
import { makeNewFile } from '../moving/newFile.ts';
import { writeExport } from '../moving/writeExport.ts';
import { inWords } from '../store/lowdb/errors.ts';
import { describeLocation, type StoreLocation } from '../store/openStore.ts';
import { failInOneLine } from './failInOneLine.ts';
import { Progress } from './progress.ts';
import { tallyInWords } from './tallyInWords.ts';
import { withStore } from './withStore.ts';

/** `conversation-service export`: everything that is stored, as of one moment, into one file. */
export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description(
      'write everything that is stored into one file, to import it elsewhere (DATA_DIR: while the service is stopped; DATABASE_URL: at any time)',
    )
    .requiredOption('--to <file>', 'a new file; - is standard output')
    .action(async ({ to }: { to: string }) => {
      try {
        await exportTo(to);
      } catch (error) {
        failInOneLine(error);
      }
    });
}

async function exportTo(to: string): Promise<void> {
  const place = readConfig(process.env);
  // opening the store would make it
  if (place.database === null && !existsSync(place.dataDir)) throw nothingThere(place);
  const { tally, keyFingerprint } = await withStore((store) =>
    to === '-' ? exportToOutput(store) : exportToFile(store, to),
  );
  if (tally === null) throw nothingThere(place);
  const said = `Exported ${describeLocation(place)}${to === '-' ? '' : ` to ${to}`}:\n${tallyInWords(tally)}${keyFingerprint === null ? '' : KEY_NOTE}`;
  (to === '-' ? process.stderr : process.stdout).write(said);
}

const KEY_NOTE =
  'Secrets in it stay sealed: importing it takes the same key (ENCRYPTION_KEY, or encryption.key in DATA_DIR). Keep that key like a password.\n';

const nothingThere = (place: StoreLocation) =>
  new Error(
    `There is nothing to export: ${describeLocation(place)} is empty. See whether DATA_DIR or DATABASE_URL is the one that the service uses.`,
  );

interface Exported {
  /** Null: nothing is stored. */
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
  process.stdout.on('error', () => {}); // each write tells its own
  return exportWith(store, writeToOutput);
}

const writeToOutput = (piece: Buffer) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(piece, (error) => {
      if (error == null) resolve();
      else
        reject(
          new Error(
            `Standard output takes no more: ${inWords(error)}. What was written is no whole export.`,
            { cause: error },
          ),
        );
    });
  });

async function exportWith(
  store: ServiceStore,
  write: (piece: Buffer) => Promise<void>,
): Promise<Exported> {
  const progress = new Progress('exported');
  try {
    const keyFingerprint = (await findFingerprint(store))?.value ?? null;
    const tally = await writeExport(
      store.dump(),
      headerOf(systemClock.now(), keyFingerprint),
      write,
      (total) => {
        progress.total = total;
      },
    );
    return { tally, keyFingerprint };
  } finally {
    progress.stop();
  }
}
