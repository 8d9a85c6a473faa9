import type { DumpedRecord } from '../store/store.ts';
import { VERSION } from '../version.ts';
import type { ExportHeader, Tally } from './exportFormat.ts';
import { FORMAT, FORMAT_VERSION, Ledger, MAX_LINE_BYTES, trailerOf } from './exportFormat.ts';
import { LineTooLong, linesOf, type Line } from '../store/lines.ts';

/** The input is not a whole, unaltered export that this version can read. */
export class ExportRefused extends Error {
  override readonly name = 'ExportRefused';
}

const AGAIN = 'Copy the file again, or make the export again.';

/**
 * Reads an export in one pass. `records` ends without an error only if the whole file is in order, so
 * a caller that keeps all records or none keeps nothing of a damaged file.
 */
export class ExportReader {
  readonly header: ExportHeader;
  private readonly lines: AsyncGenerator<Line>;
  private readonly ledger = new Ledger();
  private found: Tally | null = null;

  private constructor(header: ExportHeader, lines: AsyncGenerator<Line>, first: Line) {
    this.header = header;
    this.lines = lines;
    this.add(first);
  }

  /** @throws ExportRefused when it does not begin like an export of a known version */
  static async open(pieces: AsyncIterable<Uint8Array>): Promise<ExportReader> {
    const lines = eachLine(pieces);
    const first = await nextLine(lines);
    if (first === null) throw new ExportRefused('It is empty: nothing of an export is in it.');
    return new ExportReader(parseHeader(first), lines, first);
  }

  /** How many records have been read. */
  get total(): number {
    return this.ledger.total;
  }

  /** What was read, which the trailer confirms. Available when `records` has ended. */
  get tally(): Tally {
    if (this.found === null) throw new Error('The export has not been read to its end');
    return this.found;
  }

  /** @throws ExportRefused, at the latest at the end */
  async *records(): AsyncGenerator<DumpedRecord> {
    for (let line = await nextLine(this.lines); ; line = await nextLine(this.lines)) {
      if (line === null || !line.ended)
        throw new ExportRefused(
          `It ends ${line === null ? 'behind' : 'in the middle of'} record ${this.total + (line === null ? 0 : 1)}, without the line that ends an export: it was cut off. ${AGAIN}`,
        );
      const record = this.parse(line);
      if (record === null) return await this.end(line);
      this.add(line);
      this.ledger.count(record);
      yield record;
    }
  }

  private add({ bytes }: Line): void {
    this.ledger.addLines(bytes);
    this.ledger.addLines(NEWLINE);
  }

  /** @returns null for the trailer */
  private parse({ bytes, number }: Line): DumpedRecord | null {
    const value = parseObject(bytes);
    if (value !== null && isRecord(value)) return value;
    if (value !== null && 'end' in value) return null;
    throw new ExportRefused(
      `Line ${number} is no record of an export: the file was altered or damaged. ${AGAIN}`,
    );
  }

  private async end({ bytes }: Line): Promise<void> {
    const tally = this.ledger.finish();
    if (bytes.toString() !== trailerOf(tally))
      throw new ExportRefused(
        `The checksum or the counts in its last line do not fit what stands before it: the file was altered or damaged. ${AGAIN}`,
      );
    if ((await nextLine(this.lines)) !== null)
      throw new ExportRefused(
        `Something stands behind the line that ends the export: the file was altered. ${AGAIN}`,
      );
    this.found = tally;
  }
}

const NEWLINE = Buffer.from('\n');

async function* eachLine(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  for await (const lines of linesOf(pieces, MAX_LINE_BYTES)) yield* lines;
}

async function nextLine(lines: AsyncGenerator<Line>): Promise<Line | null> {
  try {
    const next = await lines.next();
    return next.done === true ? null : next.value;
  } catch (error) {
    if (error instanceof LineTooLong)
      throw new ExportRefused(
        `Line ${error.number} has no end within ${MAX_LINE_BYTES >> 20} MiB: the file is no export of conversation-service, or is damaged.`,
      );
    throw error;
  }
}

function parseHeader({ bytes, ended }: Line): ExportHeader {
  const header = ended
    ? (parseObject(bytes) as Partial<Record<keyof ExportHeader, unknown>> | null)
    : null;
  if (header?.format !== FORMAT)
    throw new ExportRefused(
      'It is no export of conversation-service: its first line is not that of one.',
    );
  const { version, made_by: madeBy } = header;
  if (version === FORMAT_VERSION) return header as unknown as ExportHeader;
  throw new ExportRefused(
    `It was made by conversation-service ${String(madeBy)} in version ${String(version)} of the format, and this one (${VERSION}) reads version ${FORMAT_VERSION}: import it with conversation-service ${String(madeBy)} or a newer one.`,
  );
}

function parseObject(bytes: Buffer): object | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: object): value is DumpedRecord {
  const { collection, document, job } = value as {
    collection?: unknown;
    document?: unknown;
    job?: unknown;
  };
  return typeof collection === 'string' ? hasId(document) : hasId(job);
}

const hasId = (value: unknown): boolean =>
  typeof (value as { id?: unknown } | null | undefined)?.id === 'string';
