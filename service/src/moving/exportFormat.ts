import { createHash } from 'node:crypto';
import type { DumpedRecord } from '../store/store.ts';
import { VERSION } from '../version.ts';

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
 * @see decision 0034
 */
export interface ExportHeader {
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
export const FORMAT_VERSION = 1;
/**
 * No line of an export is longer: the largest documents have a few hundred thousand characters.
 */
export const MAX_LINE_BYTES = 64 << 20;

/** What was moved. An export and its import have the same tally. */
export interface Tally {
  /** The number of records in each collection; `jobs` is the number of queued jobs. */
  readonly counts: Readonly<Record<string, number>>;
  readonly sha256: string;
}

/** Counts records and computes the checksum. Takes everything in the order of the file. */
export class Ledger {
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
export const trailerOf = ({ counts, sha256 }: Tally): string =>
  JSON.stringify({ end: true, counts, sha256 });
