import { jsonIn } from '../platform/json.ts';
import { createHash } from 'node:crypto';
import { LineTooLong, linesOf, type Line } from '../platform/lines.ts';
import type { DumpedRecord } from '../store/store.ts';
import { VERSION } from '../platform/version.ts';

/**
 * An export is a text file of JSON lines (UTF-8, each ended by a newline): a header, one
 * record per line, and a trailer.
 *
 *     {"format":"conversation-service export","version":1,"made_by":"0.1.0","at":"2026-…Z","key_fingerprint":"…"}
 *     {"collection":"contacts","document":{…}}
 *     {"job":{…}}
 *     {"end":true,"counts":{"contacts":1,"jobs":1},"sha256":"…"}
 *
 * The checksum is over all lines before the trailer, their newlines included.
 * @see docs/decisions/0034-export-format.md
 */
interface ExportHeader {
  readonly format: typeof FORMAT;
  readonly version: typeof FORMAT_VERSION;
  /** The version of conversation-service. */
  readonly made_by: string;
  /** When the export began. */
  readonly at: string;
  /** The fingerprint of the key that seals its secrets; null when nothing has been sealed yet. */
  readonly key_fingerprint: string | null;
}

export const FORMAT = 'conversation-service export';
const FORMAT_VERSION = 1;
/** No line of an export is longer: the largest documents have a few hundred thousand characters. */
export const MAX_LINE_BYTES = 64 << 20;
const PIECE_CHARACTERS = 256 << 10;
const NEWLINE = Buffer.from('\n');
const WHAT_TO_DO = 'Copy the file again, or make a new export.';

/** What was moved. An export and its import have the same tally. */
export interface Tally {
  /** The number of records in each collection; `jobs` is the number of queued jobs. */
  readonly counts: Readonly<Record<string, number>>;
  readonly sha256: string;
}

/** Counts records and computes the checksum. Takes everything in the order of the file. */
class Ledger {
  private readonly hash = createHash('sha256');
  private readonly counts = new Map<string, number>();
  total = 0;

  /** @param lines complete lines, newlines included */
  addLines(lines: string | Uint8Array): void {
    this.hash.update(lines);
  }

  count(record: DumpedRecord): void {
    const name = 'job' in record ? 'jobs' : record.collection;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    this.total += 1;
  }

  /** Call it once, after the last record. */
  finish(): Tally {
    return { counts: Object.fromEntries(this.counts), sha256: this.hash.digest('hex') };
  }
}

export const headerOf = (at: Date, keyFingerprint: string | null): ExportHeader => ({
  format: FORMAT,
  version: FORMAT_VERSION,
  made_by: VERSION,
  at: at.toISOString(),
  key_fingerprint: keyFingerprint,
});

export const lineOf = (value: ExportHeader | DumpedRecord): string => `${JSON.stringify(value)}\n`;

/** The last line of the file, byte for byte, without its newline. */
const trailerOf = ({ counts, sha256 }: Tally): string =>
  JSON.stringify({ end: true, counts, sha256 });

/**
 * Writes an export in pieces of limited size.
 * @param write resolves when it is ready for the next piece
 * @param onRecords called with the number of records so far
 * @returns null when there was no record; then nothing was written
 */
export async function writeExport(
  records: AsyncIterable<DumpedRecord>,
  header: ExportHeader,
  write: (piece: Buffer) => Promise<void>,
  onRecords: (total: number) => void = () => {},
): Promise<Tally | null> {
  const ledger = new Ledger();
  const put = async (lines: string) => {
    const piece = Buffer.from(lines);
    ledger.addLines(piece);
    await write(piece);
    onRecords(ledger.total);
  };
  let lines = lineOf(header);
  for await (const record of records) {
    const line = lineOf(record);
    // A UTF-16 unit takes at most 3 bytes, so only a very long line has to be measured.
    if (line.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(line) > MAX_LINE_BYTES)
      throw new Error(`${nameOf(record)} is too large to be exported.`);
    lines += line;
    ledger.count(record);
    if (lines.length < PIECE_CHARACTERS) continue;
    await put(lines);
    lines = '';
  }
  if (ledger.total === 0) return null;
  await put(lines);
  const tally = ledger.finish();
  await write(Buffer.from(`${trailerOf(tally)}\n`));
  return tally;
}

const nameOf = (record: DumpedRecord): string =>
  'job' in record ? `job ${record.job.id}` : `${record.collection} ${record.document.id}`;

/** The input is not a complete, unchanged export that this version can read. */
export class ExportRefused extends Error {
  override readonly name = 'ExportRefused';
}

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
  const value = jsonIn(bytes.toString());
  return typeof value === 'object' ? value : null;
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
