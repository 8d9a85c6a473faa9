import zlib from 'node:zlib';
import { BoundedBody } from './boundedBody.ts';

/** A body in its content encoding read back to what was meant. */
export interface DecodedBody {
  body: Buffer;
  /** There was more than the limit, or the encoded bytes ended early. */
  cut: boolean;
}

// A body may end early: what can be decoded of it is given, not an error.
const DECODERS: Record<string, () => NodeJS.ReadWriteStream & AsyncIterable<Buffer>> = {
  gzip: () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  'x-gzip': () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  deflate: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress({ finishFlush: zlib.constants.ZSTD_e_flush }),
};

export const isDecodable = (encoding: string | undefined): encoding is string =>
  encoding !== undefined && Object.hasOwn(DECODERS, encoding.toLowerCase());

/**
 * Decodes a body and stops at `maxBytes` of output, so that a small answer cannot expand in memory.
 * @throws Error of zlib when the bytes are not in that encoding
 */
export const decodeBody = async (encoded: Buffer, encoding: string, maxBytes: number): Promise<DecodedBody> => {
  const decoder = DECODERS[encoding.toLowerCase()]!();
  const decoded = new BoundedBody(maxBytes);
  decoder.end(encoded);
  for await (const chunk of decoder) {
    if (!decoded.append(chunk)) return { body: decoded.bytes, cut: true };
  }
  return { body: decoded.bytes, cut: false };
};
