import { getHeapStatistics } from 'node:v8';

const MIB = 2 ** 20;
const SETTING = /^--max[-_]old[-_]space[-_]size=(\d+)$/;
/** By default, V8 gives young objects 3 bytes for each 64 of old ones. */
const OLD_SHARE = 64 / 67;

/**
 * How many bytes old objects may take before V8 ends the process. Node's heap limit also contains
 * the young generation, which can be larger than the rest of a small heap.
 * @param given options of the process; the last one applies
 */
export const heapLimitBytes = (
  given = optionsOfProcess(),
  limitBytes = getHeapStatistics().heap_size_limit,
): number => {
  const set = given
    .map((option) => SETTING.exec(option)?.[1])
    .findLast((megabytes) => megabytes !== undefined);
  const most = limitBytes * OLD_SHARE;
  return set === undefined || Number(set) === 0 ? most : Math.min(most, Number(set) * MIB);
};

/** Options of the environment, then of the command line. */
const optionsOfProcess = (): readonly string[] => [
  ...(process.env.NODE_OPTIONS ?? '').split(/\s+/),
  ...process.execArgv,
];
