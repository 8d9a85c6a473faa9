import { getHeapStatistics } from 'node:v8';

const MIB = 2 ** 20;
const SETTING = /^--max[-_]old[-_]space[-_]size=(\d+)$/;
/** V8 gives young objects 3 bytes for each 64 of old ones, unless it is told otherwise. */
const OLD_SHARE = 64 / 67;

/**
 * How many bytes old objects may take before V8 ends the process. What Node calls the heap's limit
 * also holds the young generation, which can be larger than all the rest of a small heap and holds
 * nothing for long.
 * @param given options of the process, the last one counts
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

/** Those of the command line come after those of the environment. */
const optionsOfProcess = (): readonly string[] => [
  ...(process.env.NODE_OPTIONS ?? '').split(/\s+/),
  ...process.execArgv,
];
