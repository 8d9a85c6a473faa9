// Pictures of pages have few colours: a palette of them makes the files a third as large.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE_BYTES = 8;
const COLOURS = 256;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel. */
  readonly rgb: Buffer;
}

/**
 * The same picture in its 256 most frequent colours; others become the nearest of them. @param png
 * 8 bits a channel, not interlaced, as Chromium writes it
 */
export function smallPng(png: Buffer): Buffer {
  const pixels = decode(png);
  const palette = mostFrequent(pixels.rgb);
  return encode(pixels, palette, indexed(pixels.rgb, palette));
}

function decode(png: Buffer): Pixels {
  const chunks = [...chunksOf(png)];
  const header = chunks.find(({ type }) => type === 'IHDR')!.data;
  const [width, height, channels] = [
    header.readUInt32BE(0),
    header.readUInt32BE(4),
    header[9] === 6 ? 4 : 3,
  ];
  const lines = inflateSync(
    Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)),
  );
  const bytes = unfiltered(lines, width * channels, height, channels);
  if (channels === 3) return { width, height, rgb: bytes };
  const rgb = Buffer.alloc(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++)
    bytes.copy(rgb, pixel * 3, pixel * 4, pixel * 4 + 3);
  return { width, height, rgb };
}

function* chunksOf(png: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield {
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    };
    at += length + 12;
  }
}

/** Each line says in its first byte how it was predicted from its left and upper neighbours. */
function unfiltered(lines: Buffer, lineBytes: number, height: number, step: number): Buffer {
  const out = Buffer.alloc(lineBytes * height);
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (lineBytes + 1)]!;
    for (let x = 0; x < lineBytes; x++) {
      const at = y * lineBytes + x;
      const left = x < step ? 0 : out[at - step]!;
      const up = y === 0 ? 0 : out[at - lineBytes]!;
      const corner = x < step || y === 0 ? 0 : out[at - lineBytes - step]!;
      out[at] = lines[at + y + 1]! + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter < 3) return [0, left, up][filter]!;
  if (filter === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((each) => Math.abs(guess - each)) as [
    number,
    number,
    number,
  ];
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
}

const colourAt = (rgb: Buffer, pixel: number) => rgb.readUIntBE(pixel * 3, 3);

function mostFrequent(rgb: Buffer): readonly number[] {
  const counts = new Map<number, number>();
  for (let pixel = 0; pixel < rgb.length / 3; pixel++)
    counts.set(colourAt(rgb, pixel), (counts.get(colourAt(rgb, pixel)) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, COLOURS)
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

const channels = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const;

function nearest(colour: number, palette: readonly number[]): number {
  const [r, g, b] = channels(colour);
  const distances = palette.map((each) => {
    const [red, green, blue] = channels(each);
    return (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
  });
  return distances.indexOf(Math.min(...distances));
}

function encode({ width, height }: Pixels, palette: readonly number[], indices: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // 8 bits a pixel, of a palette
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    indices.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width);
  const colours = Buffer.from(palette.flatMap(channels));
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
