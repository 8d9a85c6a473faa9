// Pages have few colours: with a palette, their pictures take a third of the bytes.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_COLOURS = 256;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel. */
  readonly rgb: Buffer;
}

/**
 * The same picture in its 256 most frequent colours; any other becomes the nearest of them.
 * @param png 8 bits a channel, not interlaced, as Chromium writes it
 */
export function smallPng(png: Buffer): Buffer {
  const pixels = decode(png);
  const palette = mostFrequent(pixels.rgb);
  return encode(pixels, palette, indexed(pixels.rgb, palette));
}

function decode(png: Buffer): Pixels {
  const chunks = [...chunksOf(png)];
  const header = chunks.find(({ type }) => type === 'IHDR')!.data;
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const hasAlpha = header[9] === 6;
  const pixelBytes = hasAlpha ? 4 : 3;
  const lines = inflateSync(
    Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)),
  );
  const bytes = unfiltered(lines, width * pixelBytes, height, pixelBytes);
  if (!hasAlpha) return { width, height, rgb: bytes };
  const rgb = Buffer.alloc(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++)
    bytes.copy(rgb, pixel * 3, pixel * 4, pixel * 4 + 3);
  return { width, height, rgb };
}

function* chunksOf(png: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield {
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    };
    at += length + 12;
  }
}

/** The first byte of each line says how the others were predicted from their neighbours. */
function unfiltered(lines: Buffer, lineBytes: number, height: number, pixelBytes: number): Buffer {
  const out = Buffer.alloc(lineBytes * height);
  for (let y = 0; y < height; y++) {
    const start = y * (lineBytes + 1);
    const filter = lines[start]!;
    for (let x = 0; x < lineBytes; x++) {
      const at = y * lineBytes + x;
      const left = x < pixelBytes ? 0 : out[at - pixelBytes]!;
      const up = y === 0 ? 0 : out[at - lineBytes]!;
      const corner = x < pixelBytes || y === 0 ? 0 : out[at - lineBytes - pixelBytes]!;
      out[at] = lines[start + 1 + x]! + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter < 3) return [0, left, up][filter]!;
  if (filter === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const toLeft = Math.abs(guess - left);
  const toUp = Math.abs(guess - up);
  const toCorner = Math.abs(guess - corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

const colourAt = (rgb: Buffer, pixel: number) => rgb.readUIntBE(pixel * 3, 3);

function mostFrequent(rgb: Buffer): readonly number[] {
  const counts = new Map<number, number>();
  for (let pixel = 0; pixel < rgb.length / 3; pixel++) {
    const colour = colourAt(rgb, pixel);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_COLOURS)
    .map(([colour]) => colour);
}

function indexed(rgb: Buffer, palette: readonly number[]): Buffer {
  const known = new Map(palette.map((colour, index) => [colour, index]));
  const indexOf = (colour: number) => {
    if (!known.has(colour)) known.set(colour, nearest(colour, palette));
    return known.get(colour)!;
  };
  return Buffer.from(
    Array.from({ length: rgb.length / 3 }, (_, pixel) => indexOf(colourAt(rgb, pixel))),
  );
}

const channelsOf = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const;

function nearest(colour: number, palette: readonly number[]): number {
  const [r, g, b] = channelsOf(colour);
  const distances = palette.map((each) => {
    const [red, green, blue] = channelsOf(each);
    return (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
  });
  return distances.indexOf(Math.min(...distances));
}

function encode({ width, height }: Pixels, palette: readonly number[], indices: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // 8 bits a pixel, which point into a palette
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    indices.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width);
  const paletteBytes = Buffer.from(palette.flatMap(channelsOf));
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', paletteBytes),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
