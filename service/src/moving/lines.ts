/** One line, without its newline. */
export interface Line {
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  /** False for bytes at the end that no newline closes. */
  readonly ended: boolean;
}

/** A line does not end. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
  readonly number: number;

  constructor(number: number) {
    super(`line ${number} is too long`);
    this.number = number;
  }
}

const NEWLINE = 0x0a;

/**
 * Cuts pieces into lines, holding one line and one piece at most.
 * @throws TooLong when a line has more than `longest` bytes
 */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<Line> {
  let number = 1;
  let begun: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    length += part.length;
    if (length > longest) throw new TooLong(number);
    begun.push(part);
  };
  for await (const each of pieces) {
    const piece = Buffer.from(each.buffer, each.byteOffset, each.byteLength);
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      take(piece.subarray(from, end));
      yield { bytes: begun.length === 1 ? begun[0]! : Buffer.concat(begun), number, ended: true };
      number += 1;
      begun = [];
      length = 0;
      from = end + 1;
    }
    if (from < piece.length) take(piece.subarray(from));
  }
  if (length > 0) yield { bytes: Buffer.concat(begun), number, ended: false };
}
