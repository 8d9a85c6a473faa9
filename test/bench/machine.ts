// What the figures were measured on.
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from './children.ts';
import { redisVersion } from './redis.ts';
import { round } from './report.ts';
import { median } from './statistics.ts';

const GIB = 2 ** 30;

/** The machine, the versions, and the time of a durable write: a line each. */
export const describeMachine = (): string[] => [
  `${cpus()[0]?.model ?? 'Unknown CPU'}, ${availableParallelism()} cores, ${(totalmem() / GIB).toFixed(0)} GiB of memory, ${type()} ${release()} ${process.arch}`,
  `Node ${process.versions.node}, undici ${versionOf('undici')} (${process.versions.undici} in Node's fetch), Express ${versionOf('express')}, ` +
    `BullMQ ${versionOf('bullmq')}, ioredis ${versionOf('ioredis')}, Redis ${redisVersion() ?? 'not installed'}`,
  `fdatasync of 4 KiB in the temporary folder: ${round(fdatasyncMs())} ms; load average before: ${loadavg()[0]!.toFixed(1)}`,
];

const versionOf = (name: string) =>
  (
    JSON.parse(
      readFileSync(createRequire(import.meta.url).resolve(`${name}/package.json`), 'utf8'),
    ) as { version: string }
  ).version;

/** The median time of a small append and its fdatasync, the least that a durable write takes here. */
function fdatasyncMs(): number {
  const file = openSync(join(temporaryFolder(), 'probe'), 'w');
  const times = Array.from({ length: 100 }, () => {
    const startedAt = performance.now();
    writeSync(file, 'x'.repeat(4096));
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return median(times);
}
