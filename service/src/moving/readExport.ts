import type { DumpedRecord } from '../store/store.ts';
import { VERSION } from '../version.ts';
import type { ExportHeader, Tally } from './exportFormat.ts';
import { FORMAT, FORMAT_VERSION, Ledger, MAX_LINE_BYTES, trailerOf } from './exportFormat.ts';
import { LineTooLong, linesOf, type Line } from '../store/lines.ts';

/** The input is not a complete, unchanged export that this version can read. */
export class ExportRefused extends Error {
  override readonly name = 'ExportRefused';
}

const WHAT_TO_DO = 'Copy the file again, or make a new export.';

/**
 * Reads an export in one pass. `records` ends without an error only if the whole file is valid. So a
 * caller that keeps either all records or none keeps nothing of a damaged file.
 */
export class ExportReader {
  readonly header: ExportHeader;
  private readonly lines: AsyncGenerator<Line>;
  private readonly ledger = new Ledger();
  private confirmed: Tally | null = null;

  private constructor(header: ExportHeader, lines: AsyncGenerator<Line>, first: Line) {
    this.header = header;
    this.lines = lines;
    this.add(first);
  }

  /** @throws ExportRefused when the input does not begin like an export of a known version */
  static async open(pieces: AsyncIterable<Uint8Array>): Promise<ExportReader> {
    const lines = eachLine(pieces);
    const first = await nextLine(lines);
    if (first === null) throw new ExportRefused('It is empty, so it is not an export.');
    return new ExportReader(parseHeader(first), lines, first);
  }

  /** How many records have been read. */
  get total(): number {
    return this.ledger.total;
  }

  /** What was read, as the trailer confirmed it. Available once `records` has ended. */
  get tally(): Tally {
    if (this.confirmed === null) throw new Error('The export has not been read to its end');
    return this.confirmed;
  }

  /** @throws ExportRefused when the file is damaged, at the latest after its last record */
  async *records(): AsyncGenerator<DumpedRecord> {
    for (let line = await nextLine(this.lines); ; line = await nextLine(this.lines)) {
      if (line === null) throw cutOff(`after record ${this.total}`);
      if (!line.ended) throw cutOff(`in the middle of record ${this.total + 1}`);
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
      `Line ${number} is not a record of an export: the file was changed or damaged. ${WHAT_TO_DO}`,
    );
  }

  private async end({ bytes }: Line): Promise<void> {
    const tally = this.ledger.finish();
    if (bytes.toString() !== trailerOf(tally))
      throw new ExportRefused(
        `The checksum or the counts in its last line do not match the lines before it: the file was changed or damaged. ${WHAT_TO_DO}`,
      );
    if ((await nextLine(this.lines)) !== null)
      throw new ExportRefused(
        `There is something after the line that ends the export: the file was changed. ${WHAT_TO_DO}`,
      );
    this.confirmed = tally;
  }
}

const cutOff = (where: string): ExportRefused =>
  new ExportRefused(
    `It ends ${where}, without the line that ends an export: it was cut off. ${WHAT_TO_DO}`,
  );

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
        `Line ${error.number} has no end within ${MAX_LINE_BYTES >> 20} MiB: it is not an export of conversation-service, or it is damaged. ${WHAT_TO_DO}`,
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
      'It is not an export of conversation-service: its first line is not the header of one.',
    );
  const { version, made_by: madeBy } = header;
  if (version === FORMAT_VERSION) return header as unknown as ExportHeader;
  throw new ExportRefused(
    `It has version ${String(version)} of the format. This version of conversation-service (${VERSION}) reads version ${FORMAT_VERSION}. Import it with conversation-service ${String(madeBy)} or newer.`,
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
