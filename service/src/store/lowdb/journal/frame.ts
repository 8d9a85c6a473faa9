import { crc32 } from 'node:zlib';

/**
 * A frame is one line of a journal: a record separator, the length in bytes and the CRC-32 of the
 * rest, the sequence number, and the operations as a JSON array.
 *
 *     ␞<length> <crc32, hex> <sequence> [["put","contacts",{…}],["delete","jobs","job_1"]]⏎
 *
 * The separator (RFC 7464) marks the beginning of a frame even if the newline before it is damaged.
 * JSON never contains that byte, so no stored text can look like a frame.
 */
export interface Frame {
  readonly sequence: number;
  readonly operations: readonly Operation[];
}

export type Operation =
  | readonly ['put', collection: string, document: { readonly id: string }]
  | readonly ['delete', collection: string, id: string];

const SEPARATOR = 0x1e;
const NEWLINE = Buffer.from('\n');
const HEADER = /^\x1e(\d{1,10}) ([0-9a-f]{8}) /;
const MAX_HEADER_BYTES = 24;

const checksum = (bytes: Uint8Array) => crc32(bytes).toString(16).padStart(8, '0');

/** @param operations each as JSON */
export const encodeFrame = (sequence: number, operations: readonly string[]): Buffer => {
  const checked = Buffer.from(`${sequence} [${operations.join(',')}]`);
  return Buffer.concat([
    Buffer.from(`\x1e${checked.length} ${checksum(checked)} `),
    checked,
    NEWLINE,
  ]);
};

/** @returns null when the line (without its newline) is not a whole, undamaged frame */
export const decodeFrame = (line: Buffer): Frame | null => {
  const header = HEADER.exec(line.toString('latin1', 0, MAX_HEADER_BYTES));
  if (header === null) return null;
  const checked = line.subarray(header[0].length);
  if (checked.length !== Number(header[1]) || checksum(checked) !== header[2]) return null;
  const text = checked.toString();
  const space = text.indexOf(' ');
  return {
    sequence: Number(text.slice(0, space)),
    operations: JSON.parse(text.slice(space + 1)) as Operation[],
  };
};

/** Whether a damaged line contains a whole frame after its beginning. */
export const holdsFrame = (line: Buffer): boolean => {
  for (let at = line.indexOf(SEPARATOR, 1); at !== -1; at = line.indexOf(SEPARATOR, at + 1)) {
    if (decodeFrame(line.subarray(at)) !== null) return true;
  }
  return false;
};
