import zlib from 'node:zlib';
import { BoundedBody } from './boundedBody.ts';

/** A body whose content encoding was undone. */
export interface DecodedBody {
  body: Buffer;
  /** The body is longer than the limit. */
  cut: boolean;
}

type Decoder = NodeJS.ReadWriteStream & AsyncIterable<Buffer>;

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = zlib.constants;

// With a flush at the end, input that ends early yields what can be decoded instead of an error.
const DECODERS: Record<string, (mayEndEarly: boolean) => Decoder> = {
  gzip: (mayEndEarly) => zlib.createGunzip(mayEndEarly ? { finishFlush: Z_SYNC_FLUSH } : {}),
  'x-gzip': (mayEndEarly) => zlib.createGunzip(mayEndEarly ? { finishFlush: Z_SYNC_FLUSH } : {}),
  deflate: (mayEndEarly) => zlib.createInflate(mayEndEarly ? { finishFlush: Z_SYNC_FLUSH } : {}),
  br: (mayEndEarly) =>
    zlib.createBrotliDecompress(mayEndEarly ? { finishFlush: BROTLI_OPERATION_FLUSH } : {}),
  zstd: (mayEndEarly) =>
    zlib.createZstdDecompress(mayEndEarly ? { finishFlush: ZSTD_e_flush } : {}),
};

export const isDecodable = (encoding: string | undefined): encoding is string =>
  encoding !== undefined && Object.hasOwn(DECODERS, encoding.toLowerCase());

/**
 * Decodes a body and stops at `maxBytes` of output, so that a small answer cannot expand in memory.
 * @throws zlib's Error when the bytes are not in that encoding, or end early without `mayEndEarly`
 */
export const decodeBody = async (
  encoded: Buffer,
  encoding: string,
  { maxBytes, mayEndEarly }: { maxBytes: number; mayEndEarly: boolean },
): Promise<DecodedBody> => {
  const decoder = DECODERS[encoding.toLowerCase()]!(mayEndEarly);
  const decoded = new BoundedBody(maxBytes);
  decoder.end(encoded);
  for await (const chunk of decoder) {
    if (!decoded.append(chunk)) return { body: decoded.bytes, cut: true };
  }
  return { body: decoded.bytes, cut: false };
};
