/** One line, without its newline. */
export interface Line {
  readonly bytes: Buffer;
  /** Where it begins, in bytes. */
  readonly position: number;
  /** From 1. */
  readonly number: number;
  /** Whether a newline follows. Only the last line may have none. */
  readonly ended: boolean;
}

export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
  readonly number: number;

  constructor(number: number) {
    super(`line ${number} is too long`);
    this.number = number;
  }
}

const NEWLINE = 0x0a;

/**
 * Splits chunks into lines and yields the lines of a chunk together: a promise for each line would
 * double the time that reading a million documents takes. Holds one chunk and one line at most.
 * @throws LineTooLong when a line has more than `maxBytes`
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = Infinity,
): AsyncGenerator<readonly Line[]> {
  let number = 1;
  let position = 0;
  let parts: Buffer[] = [];
  let partsBytes = 0;
  const take = (part: Buffer) => {
    parts.push(part);
    partsBytes += part.length;
    if (partsBytes > maxBytes) throw new LineTooLong(number);
  };
  const endLine = (ended: boolean): Line => {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const line = { bytes, position, number, ended };
    parts = [];
    partsBytes = 0;
    number += 1;
    position += bytes.length + 1;
    return line;
  };
  for await (const { buffer, byteOffset, byteLength } of chunks) {
    const chunk = Buffer.from(buffer, byteOffset, byteLength);
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, end));
      lines.push(endLine(true));
      from = end + 1;
    }
    if (from < chunk.length) take(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (partsBytes > 0) yield [endLine(false)];
}
