import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { headerOf, writeExport } from '../../../service/src/moving/exportFormat.ts';
import { makeNewFile } from '../../../service/src/moving/newFile.ts';
import type { DumpedRecord } from '../../../service/src/store/store.ts';
import { BARE_ENV, MAIN } from '../../helpers/program.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { MovingStage, otherKey, type DataPlace } from './movingStage.ts';

const DOCUMENTS = 25_000;
/** Of letters alone, so that each text is one word, and little of it is indexed. */
const TEXT_BYTES = 1_200;
const JOBS = 5_000;
const MIB = 1 << 20;
const TIMEOUT_MS = 480_000;
/** A generous limit of what a process of the service needs before it does anything. */
const BARE_MIB = 200;
/**
 * A generous limit of what the embedded store needs for so many documents: it always holds
 * everything in memory.
 */
const HELD_MIB = 250;
/** For pieces on their way, and garbage that is collected late. */
const STREAM_MIB = 150;

/** Less than the file that is moved. */
const SMALL_HEAP_MIB = 48;

const lettersOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!);

/** Messages of many conversations, no two alike, and work that waits. */
async function* records(): AsyncGenerator<DumpedRecord> {
  for (let n = 0; n < DOCUMENTS; n += 1) {
    const document = {
      id: `msg_${String(n).padStart(9, '0')}`,
      conversationId: `conv_${n % 5_000}`,
      contactId: `contact_${n % 5_000}`,
      channelMessageId: `c${n}`,
      number: n,
      text: lettersOf(randomBytes(TEXT_BYTES)),
    };
    yield { collection: 'messages', document };
  }
  for (let n = 0; n < JOBS; n += 1) {
    yield {
      job: {
        id: `dlv_${String(n).padStart(9, '0')}`,
        queue: 'deliveries',
        group: `sub_${n % 25}`,
        runAt: 4_000_000_000_000 + n,
        rank: 1,
        data: { n },
      },
    };
  }
}

/** Runs a command and watches its memory. @returns the most it had, in MiB */
const peakOf = async (
  { env }: DataPlace,
  args: readonly string[],
  node: readonly string[] = [],
): Promise<number> => {
  const child = spawn(process.execPath, [...node, MAIN, ...args], {
    env: { ...BARE_ENV, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peakMiB = 0;
  const sample = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakMiB = Math.max(peakMiB, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
  };
  const timer = setInterval(() => void sample(), 20);
  await once(child, 'close');
  clearInterval(timer);
  expect(child.exitCode).toBe(0);
  process.stdout.write(
    `    ${args[0]} ${env['DATABASE_URL'] ? 'on a database' : 'in a folder'}: ${Math.round(peakMiB)} MiB\n`,
  );
  return peakMiB;
};

(existsSync('/proc/self/status') ? describe : describe.skip)(
  `moving ${DOCUMENTS} documents`,
  () => {
    let stage: MovingStage;
    let file: string;
    beforeAll(async () => {
      stage = await MovingStage.open();
      file = join(stage.folder, 'large.ndjson');
      await makeNewFile(
        file,
        async (write) => (await writeExport(records(), headerOf(new Date(), null), write)) !== null,
      );
      const { size: bytes } = await stat(file);
      expect(bytes).toBeGreaterThan(SMALL_HEAP_MIB * MIB);
    }, TIMEOUT_MS);
    afterAll(() => stage.close());

    const expectSameRecords = async (other: string) => {
      const recordsOf = async (path: string) => {
        const whole = await readFile(path);
        return whole.subarray(whole.indexOf('\n'), whole.lastIndexOf('\n', whole.length - 2));
      };
      expect((await recordsOf(other)).equals(await recordsOf(file))).toBe(true);
    };

    it(
      'takes little more memory than the embedded store holds anyway',
      async () => {
        const place = stage.folderPlace();
        const importing = await peakOf(place, ['import', '--from', file]);
        const exporting = await peakOf(place, ['export', '--to', `${file}.folder`]);
        // reads everything, as a start does
        const opening = await peakOf(place, ['key', 'create', '--name', 'n']);
        await expectSameRecords(`${file}.folder`);
        expect(importing).toBeLessThan(Math.min(opening, BARE_MIB + HELD_MIB) + STREAM_MIB);
        expect(exporting).toBeLessThan(opening + STREAM_MIB);
      },
      TIMEOUT_MS,
    );

    (testDatabaseUrl() === null ? it.skip : it)(
      'takes memory on PostgreSQL that does not grow with what is moved',
      async () => {
        const place = stage.databasePlace(otherKey());
        // A process that held all that is moved in this heap would crash.
        const small = [`--max-old-space-size=${SMALL_HEAP_MIB}`];
        expect(await peakOf(place, ['import', '--from', file], small)).toBeLessThan(
          BARE_MIB + STREAM_MIB,
        );
        expect(await peakOf(place, ['export', '--to', `${file}.database`], small)).toBeLessThan(
          BARE_MIB + STREAM_MIB,
        );
        await expectSameRecords(`${file}.database`);
      },
      TIMEOUT_MS,
    );
  },
);
