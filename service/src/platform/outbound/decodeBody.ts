import zlib from 'node:zlib';
import { BoundedBody } from './boundedBody.ts';
import type { ExchangeRequest, RawResponse } from './exchange.ts';
import { OutboundError } from './outboundError.ts';

type Decoder = NodeJS.ReadWriteStream & AsyncIterable<Buffer>;

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = zlib.constants;

type CreateDecoder = (options: { finishFlush?: number }) => Decoder;

/** By content encoding. With its flush constant, a decoder accepts input that ends early. */
const DECODERS: Record<string, readonly [create: CreateDecoder, flush: number]> = {
  gzip: [zlib.createGunzip, Z_SYNC_FLUSH],
  'x-gzip': [zlib.createGunzip, Z_SYNC_FLUSH],
  deflate: [zlib.createInflate, Z_SYNC_FLUSH],
  br: [zlib.createBrotliDecompress, BROTLI_OPERATION_FLUSH],
  zstd: [zlib.createZstdDecompress, ZSTD_e_flush],
};

/**
 * Decodes the body of an answer, unless its content encoding is unknown. Decoding stops at
 * `maxBytes` of output, so that a small answer cannot fill the memory.
 * @returns with `onTooLarge: 'cut'`, a decoded body that is too large is cut, and a body that is
 * not in its encoding is left as it is, marked as cut
 * @throws OutboundError in these two cases with `onTooLarge: 'fail'`: `too_large`, `network`
 */
export const decodeBody = async (
  raw: RawResponse,
  { target, maxBytes, onTooLarge }: ExchangeRequest,
): Promise<RawResponse> => {
  const encoding = raw.headers['content-encoding']?.toLowerCase() ?? '';
  // Some servers name an encoding and send nothing, as to a DELETE.
  if (!Object.hasOwn(DECODERS, encoding) || raw.body.length === 0) return raw;
  const mayCut = onTooLarge === 'cut';
  const [create, finishFlush] = DECODERS[encoding]!;
  const decoder = create(mayCut ? { finishFlush } : {});
  const decoded = new BoundedBody(maxBytes);
  let isTooLarge = false;
  decoder.end(raw.body);
  try {
    for await (const chunk of decoder) {
      isTooLarge = !decoded.append(chunk);
      if (isTooLarge) break;
    }
  } catch (cause) {
    if (mayCut) return { ...raw, cut: true };
    const message = `${target.url.host} announced a body in ${encoding}, but sent something else or only a part of it.`;
    throw new OutboundError('network', message, { cause });
  }
  if (isTooLarge && !mayCut) {
    throw new OutboundError(
      'too_large',
      `${target.url.host} answered with more than ${maxBytes} bytes after decoding.`,
    );
  }
  const { 'content-encoding': _, ...headers } = raw.headers;
  return { ...raw, headers, body: decoded.bytes, cut: raw.cut || isTooLarge };
};
