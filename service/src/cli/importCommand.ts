import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { readConfig, type Config } from '../app/config.ts';
import { ExportReader, ExportRefused } from '../moving/exportFormat.ts';
import { KeyRequirement } from '../moving/keyRequirement.ts';
import { inWords } from '../store/lowdb/errors.ts';
import { describeLocation } from '../store/openStore.ts';
import { StoreNotEmpty } from '../store/store.ts';
import { withStore, reportProgress, tallyLines } from './command.ts';

const PIECE_BYTES = 1 << 20;

/** `conversation-service import`: reads an export into an empty store, all of it or nothing. */
export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description(
      'fill an empty DATA_DIR or database from a file that `export` wrote, while no service runs on it',
    )
    .requiredOption('--from <file>', 'the file; - is standard input')
    .action(({ from }: { from: string }) => importFrom(from));
}

async function importFrom(from: string): Promise<void> {
  const config = readConfig(process.env);
  // Checked first, since opening the store creates it: a wrong file or key leaves nothing behind.
  const reader = await ExportReader.open(await openInput(from)).catch((error: unknown) =>
    refuse(from, error),
  );
  const keyRequirement = await KeyRequirement.of(config);
  keyRequirement.check(reader.header.key_fingerprint);
  using _progress = reportProgress('imported', () => reader.total);
  try {
    // Exclusive: a service that is started now exits and says why. Otherwise its writes would wait for
    // the whole import.
    await withStore((store) => store.restore(keyRequirement.checked(reader.records())), {
      exclusive: true,
    });
  } catch (error) {
    if (error instanceof StoreNotEmpty)
      throw new Error(
        `${error.message} An import needs an empty one, before the first start. ${howToGetEmptyStore(config)}`,
        { cause: error },
      );
    refuse(from, error);
  }
  const { made_by: madeBy, at } = reader.header;
  process.stdout.write(
    `Imported what conversation-service ${madeBy} exported at ${at} into ${describeLocation(config)}:\n${tallyLines(reader.tally)}`,
  );
}

const howToGetEmptyStore = ({ database }: Config): string =>
  database === null
    ? 'Set DATA_DIR to a new folder, or move its files away, except encryption.key.'
    : `Set DATABASE_SCHEMA to another name. Or, if you do not need that data, stop the service and drop the schema ${database.schema}.`;

async function openInput(from: string): Promise<AsyncIterable<Buffer>> {
  if (from === '-') return process.stdin;
  try {
    await access(from, constants.R_OK);
  } catch (error) {
    throw new Error(`${from} cannot be read: ${inWords(error)}`, { cause: error });
  }
  if ((await stat(from)).isDirectory())
    throw new Error(
      `${from} is a folder, and an export is a file. A backup is read by \`restore\`.`,
    );
  return createReadStream(from, { highWaterMark: PIECE_BYTES });
}

/** Adds the name of the file to the reader's error. */
function refuse(from: string, error: unknown): never {
  if (!(error instanceof ExportRefused)) throw error;
  throw new Error(
    `${from === '-' ? 'Standard input' : from} cannot be imported, and nothing was stored. ${error.message}`,
    { cause: error },
  );
}
