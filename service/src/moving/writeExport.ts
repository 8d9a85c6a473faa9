import type { DumpedRecord } from '../store/store.ts';
import type { ExportHeader, Tally } from './exportFormat.ts';
import { Ledger, lineOf, MAX_LINE_BYTES, trailerOf } from './exportFormat.ts';

const PIECE_CHARACTERS = 256 << 10;

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
