import type { Request, Response } from 'express';
import { AppError } from '../errorCatalogue.ts';
import type { Bounds } from '../../limits/bounds.ts';
import { FairPool } from '../../limits/fairPool.ts';
import { errorAtBound } from './errorAtBound.ts';
import { byAddress, type RateLimit } from './rateLimit.ts';
import { callerOf } from '../caller.ts';

/** A body is collected in pieces of at most this size. */
const PIECE_BYTES = 16 * 1024;
/**
 * All bodies that are being read may hold 64 MiB. One address or workspace may hold half of that: a
 * hundred of the largest API calls, or two thousand forms. Most are read within milliseconds.
 */
const MAX_BODY_PIECES = 4096;
/** How long a client that has sent too much may take to read the answer. */
const LINGER_MS = 2000;
const RETRY_MS = 1000;

/** The memory that the bodies of a process share while they are read. */
export class BodyRoom {
  readonly bounds: Bounds;
  readonly pieces: FairPool;

  constructor(bounds: Bounds, maxPieces = MAX_BODY_PIECES) {
    this.bounds = bounds;
    this.pieces = new FairPool(maxPieces);
  }
}

interface BodyLimits {
  readonly maxBytes: number;
  /** Counts the bytes by address. */
  readonly bytes?: RateLimit | undefined;
}

/**
 * Reads the request's body as it was sent, without decompressing it. Checks the size while the body
 * arrives, and in advance if the request declares it.
 * @returns the body; empty when there is none
 * @throws body_too_large (413), rate_limited (429), unavailable (503) or unsupported_media_type
 * (415), at once; the rest of the body is discarded
 */
export async function readBody(
  request: Request,
  response: Response,
  limits: BodyLimits,
): Promise<Buffer> {
  try {
    return await readWithin(request, response, limits);
  } catch (error) {
    discardRest(request, response);
    throw error;
  }
}

async function readWithin(
  request: Request,
  response: Response,
  { maxBytes, bytes }: BodyLimits,
): Promise<Buffer> {
  const declared = declaredBytes(request);
  if (declared === 0) return Buffer.alloc(0);
  if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) {
    throw new AppError(
      'unsupported_media_type',
      'The body is compressed (Content-Encoding). Send it uncompressed.',
    );
  }
  if (declared !== null && declared > maxBytes) throw tooLarge(maxBytes);
  const address = byAddress(request);
  if (declared !== null) await bytes?.spend(address, declared);

  const { bounds, pieces } = request.app.locals.bodyRoom as BodyRoom;
  const caller = callerOf(response);
  const holder = caller?.contact === null ? caller.workspace.id : address;
  const body = new Pieces(declared ?? maxBytes, () => {
    const leave = pieces.enter(holder);
    if (leave === null)
      throw errorAtBound(bounds, 'bodies', 'Too many bodies are being read.', {
        code: 'unavailable',
        retryAfterMs: RETRY_MS,
      });
    return leave;
  });
  try {
    // Counting each part would cost too much, since a part may be a single byte.
    let counted = declared ?? 0;
    const count = async () => {
      const more = body.length - counted;
      counted = body.length;
      await bytes?.spend(address, more);
    };
    await eachPart(request, (part) => {
      if (body.length + part.length > maxBytes) throw tooLarge(maxBytes);
      body.add(part);
      return body.length - counted >= PIECE_BYTES ? count() : undefined;
    });
    if (body.length > counted) await count();
    return body.whole();
  } finally {
    body.giveBack();
  }
}

/** Gives each part to `take`. Resolves when all are taken; rejects as soon as one is refused. */
async function eachPart(
  request: Request,
  take: (part: Buffer) => Promise<unknown> | undefined,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const taken: Promise<unknown>[] = [];
  const abort = () => reject(Object.assign(new Error('the request was aborted'), { status: 400 }));
  const onData = (part: Buffer) => {
    try {
      const taking = take(part);
      if (taking === undefined) return;
      taking.catch(reject);
      taken.push(taking);
    } catch (error) {
      reject(error as Error);
    }
  };
  // `close` follows `end`, and would make an error, with a stack trace, for nothing.
  const end = () => {
    request.off('close', abort);
    resolve(undefined);
  };
  if (request.destroyed) abort(); // the client disconnected while the size was being counted
  request.on('data', onData).once('end', end).once('error', abort).once('close', abort);
  try {
    await promise;
    await Promise.all(taken);
  } finally {
    request.off('data', onData);
  }
}

/** A body as it arrives. Parts are copied, since a small part may keep a large buffer alive. */
class Pieces {
  readonly #expected: number;
  readonly #enter: () => () => void;
  readonly #pieces: Buffer[] = [];
  readonly #leaves: (() => void)[] = [];
  #length = 0;
  #free = 0;

  constructor(expected: number, enter: () => () => void) {
    this.#expected = expected;
    this.#enter = enter;
  }

  get length(): number {
    return this.#length;
  }

  add(part: Buffer): void {
    for (let at = 0; at < part.length; ) {
      if (this.#free === 0) this.#grow();
      const last = this.#pieces.at(-1)!;
      const copied = part.copy(last, last.length - this.#free, at);
      at += copied;
      this.#free -= copied;
      this.#length += copied;
    }
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces, this.#length);
  }

  giveBack(): void {
    for (const leave of this.#leaves.splice(0)) leave();
    this.#pieces.length = 0;
  }

  #grow(): void {
    this.#leaves.push(this.#enter());
    this.#free = Math.max(1, Math.min(PIECE_BYTES, this.#expected - this.#length));
    this.#pieces.push(Buffer.allocUnsafe(this.#free));
  }
}

/** The length of the body; null when the request does not declare it. */
function declaredBytes({ headers }: Request): number | null {
  if (headers['transfer-encoding'] !== undefined) return null;
  return Number(headers['content-length'] ?? 0);
}

function tooLarge(maxBytes: number): AppError {
  const size = maxBytes >= 1024 * 1024 ? `${maxBytes / 1024 / 1024} MiB` : `${maxBytes / 1024} KiB`;
  return new AppError('body_too_large', `The body is larger than ${size}. Send at most ${size}.`);
}

/**
 * Discards the rest of the body, so that the answer can be sent at once. Ends the connection if the
 * client goes on sending after the answer.
 */
function discardRest(request: Request, response: Response): void {
  if (request.readableEnded || request.destroyed) return;
  request.resume();
  response.once('finish', () => {
    if (request.complete) return; // the connection can take the next request
    const late = setTimeout(() => request.socket.destroy(), LINGER_MS);
    request.once('end', () => clearTimeout(late)).once('close', () => clearTimeout(late));
  });
}
