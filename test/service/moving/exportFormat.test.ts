import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  headerOf,
  lineOf,
  MAX_LINE_BYTES,
  ExportReader,
  ExportRefused,
  writeExport,
} from '../../../service/src/moving/exportFormat.ts';
import type { DumpedRecord } from '../../../service/src/store/store.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { enqueue, job, put, thing } from '../../contract/schema.ts';

const AT = new Date('2026-06-01T12:00:00Z');

const exported = async (records: AsyncIterable<DumpedRecord>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  await writeExport(
    records,
    headerOf(AT, 'f00d'),
    async (piece) => void pieces.push(Buffer.from(piece)),
  );
  return Buffer.concat(pieces);
};

async function* inPieces(bytes: Buffer, size = 7): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const readAll = async (pieces: AsyncIterable<Uint8Array>) => {
  const reader = await ExportReader.open(pieces);
  const records: DumpedRecord[] = [];
  for await (const record of reader.records()) records.push(record);
  return { header: reader.header, records, tally: reader.tally };
};

describe('the format of an export', () => {
  let from: Awaited<ReturnType<typeof openInTemporaryFolder>>;
  let file: Buffer;
  beforeEach(async () => {
    from = await openInTemporaryFolder();
    await put(
      from.store,
      thing('a', { note: 'x\u0000\ud800\u2028"\\' }),
      thing('b', { note: null }),
    );
    await enqueue(from.store, job('j', { runAt: 5, rank: 1, data: { n: null } }));
    file = await exported(from.store.dump());
  });
  afterEach(() => from.remove());

  it('is lines of JSON: a header, one for each record, and a last one with the counts and a SHA-256 of all before it', async () => {
    const lines = file.toString().split('\n');
    expect(lines.pop()).toBe('');
    const [header, first, , job, trailer] = lines.map((line) => JSON.parse(line) as unknown);
    expect(header).toEqual({
      format: 'conversation-service export',
      version: 1,
      made_by: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      at: '2026-06-01T12:00:00.000Z',
      key_fingerprint: 'f00d',
    });
    expect(first).toEqual({
      collection: 'things',
      document: thing('a', { note: 'x\u0000\ud800\u2028"\\' }),
    });
    expect(job).toEqual({
      job: { id: 'j', queue: 'q', group: 'g', runAt: 5, rank: 1, data: { n: null } },
    });
    const before = file.subarray(0, file.length - Buffer.byteLength(lines.at(-1)!) - 1);
    expect(trailer).toEqual({
      end: true,
      counts: { things: 2, jobs: 1 },
      sha256: createHash('sha256').update(before).digest('hex'),
    });
  });

  it.each([1, 7, 1 << 20])('is read in pieces of %i bytes', async (size) => {
    const { header, records, tally } = await readAll(inPieces(file, size));
    expect(header.key_fingerprint).toBe('f00d');
    const given: DumpedRecord[] = [];
    for await (const record of from.store.dump()) given.push(record);
    expect(records).toEqual(given);
    expect(tally).toEqual({
      counts: { things: 2, jobs: 1 },
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('is refused when it was cut at any byte', async () => {
    for (let length = 0; length < file.length; length += 1) {
      const refusal = await readAll(inPieces(file.subarray(0, length), 4096)).catch(
        (error: unknown) => error,
      );
      expect([length, refusal]).toEqual([length, expect.any(ExportRefused)]);
      if (length > file.indexOf('\n')) expect((refusal as Error).message).toMatch(/was cut off/);
    }
  });

  it('is refused when any byte of it was altered', async () => {
    for (let at = 0; at < file.length; at += 1) {
      for (const bit of [1, 32, 128]) {
        const altered = Buffer.from(file);
        altered[at]! ^= bit;
        expect([
          at,
          bit,
          await readAll(inPieces(altered, 4096)).catch((error: unknown) => error),
        ]).toEqual([at, bit, expect.any(ExportRefused)]);
      }
    }
  });

  const lines = (change: (lines: string[]) => string[]) =>
    Buffer.from(
      change(file.toString().trimEnd().split('\n'))
        .map((line) => `${line}\n`)
        .join(''),
    );
  const damaged = /changed or damaged/;
  const more = /There is something after/;
  it.each<[string, () => Buffer, RegExp]>([
    ['a line that is gone', () => lines((all) => all.toSpliced(2, 1)), damaged],
    ['a line that stands twice', () => lines((all) => all.toSpliced(2, 0, all[2]!)), damaged],
    [
      'lines in another order',
      () => lines(([header, a, b, ...rest]) => [header!, b!, a!, ...rest]),
      damaged,
    ],
    [
      'line ends of another system',
      () => Buffer.from(file.toString().replaceAll('\n', '\r\n')),
      damaged,
    ],
    ['something behind its end', () => Buffer.concat([file, Buffer.from('\n')]), more],
    ['another export behind its end', () => Buffer.concat([file, file]), more],
    [
      'NULs in place of its end',
      () => Buffer.concat([file.subarray(0, 300), Buffer.alloc(file.length - 300)]),
      /was cut off|changed or damaged/,
    ],
    [
      'a last line with the right form and other counts',
      () => lines((all) => all.with(-1, all.at(-1)!.replace('"things":2', '"things":3'))),
      /do not match/,
    ],
  ])('is refused with %s', async (_what, bytes, message) => {
    await expect(readAll(inPieces(bytes(), 4096))).rejects.toThrow(message);
  });

  const notOurs = /It is not an export of conversation-service/;
  it.each<[string, string | Buffer, RegExp]>([
    ['nothing', '', /It is empty/],
    ['a text', 'root:x:0:0:root:/root:/bin/bash\n', notOurs],
    ['other JSON', '{"format":"something else"}\n', notOurs],
    ['JSON that is no object', 'null\n', notOurs],
    ['a compressed file', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), notOurs],
    [
      'a later version of the format',
      `${JSON.stringify({ ...headerOf(AT, null), version: 2, made_by: '7.8.9' })}\n`,
      /version 2 of the format.*reads version 1\. Import it with conversation-service 7\.8\.9 or newer/,
    ],
  ])('is told apart from %s', async (_what, bytes, message) => {
    await expect(readAll(inPieces(Buffer.from(bytes)))).rejects.toThrow(message);
  });

  it('gives up on a line that does not end, before it fills the memory', async () => {
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 1 << 20;
        yield Buffer.alloc(1 << 20, 'x');
      }
    }
    await expect(readAll(endless())).rejects.toThrow(/Line 1 has no end within 64 MiB/);
    expect(given).toBeLessThanOrEqual(MAX_LINE_BYTES + (2 << 20));
  });

  it('leaves the store that reads it empty when its end is missing', async () => {
    const to = await openInTemporaryFolder();
    const reader = await ExportReader.open(inPieces(file.subarray(0, file.length - 1), 4096));
    await expect(to.store.restore(reader.records())).rejects.toThrow(ExportRefused);
    for await (const record of (await to.reopen()).dump())
      throw new Error(`there is ${JSON.stringify(record)}`);
    await to.remove();
  });

  it('is empty for a store that holds nothing', async () => {
    const to = await openInTemporaryFolder();
    expect((await exported(to.store.dump())).length).toBe(0);
    await to.remove();
  });

  it('refuses to write what it would not read', async () => {
    async function* tooLong(): AsyncGenerator<DumpedRecord> {
      yield {
        collection: 'things',
        document: thing('a', { note: 'x'.repeat(MAX_LINE_BYTES) }),
      };
    }
    await expect(exported(tooLong())).rejects.toThrow('things a is too large to be exported');
    expect(lineOf(headerOf(AT, null)).endsWith('\n')).toBe(true);
  });
});
