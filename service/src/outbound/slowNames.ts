import type { Resolver } from './hostGuard.ts';

/** A look-up that takes longer than this makes its name a slow one. */
export const SLOW_LOOKUP_MS = 1_000;
const MAX_NAMES = 1_000;
const THREADS_BY_DEFAULT = 4;

export interface LookupLimits {
  /** Look-ups at once, at most. */
  atOnce: number;
  /** Of these, such as are of slow names. */
  slowAtOnce: number;
}

/** As many as libuv gives look-ups: half of its threads. */
const limitsOfThreads = (): LookupLimits => {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || THREADS_BY_DEFAULT;
  const atOnce = Math.max(2, Math.floor((threads + 1) / 2));
  return { atOnce, slowAtOnce: Math.max(1, Math.floor(atOnce / 4)) };
};

interface Waiting {
  hostname: string;
  begin: () => void;
}

/**
 * Names whose last look-up was slow are looked up a few at a time.
 *
 * The system's look-up holds a thread until it gives up, ten seconds and more, and there are few of them.
 * Without this, subscribers whose name server is dead would leave no thread for the names of the others.
 * What has to wait for a thread waits here, so that a name is not called slow for having waited.
 * @see decision 0028
 */
export const keepSlowNamesApart = (resolver: Resolver, { atOnce, slowAtOnce } = limitsOfThreads()): Resolver => {
  const slow = new Set<string>();
  const waiting: Waiting[] = [];
  let running = 0;
  let runningSlow = 0;

  const mayBegin = ({ hostname }: Waiting) => running < atOnce && (!slow.has(hostname) || runningSlow < slowAtOnce);
  const beginNext = () => {
    for (let at = waiting.findIndex(mayBegin); at !== -1; at = waiting.findIndex(mayBegin)) waiting.splice(at, 1)[0]!.begin();
  };
  const remember = (hostname: string, isSlow: boolean) => {
    slow.delete(hostname);
    if (isSlow) slow.add(hostname);
    if (slow.size > MAX_NAMES) slow.delete(slow.values().next().value!);
  };
  const look: Resolver = async (hostname) => {
    const wasSlow = slow.has(hostname);
    running += 1;
    if (wasSlow) runningSlow += 1;
    const startedAt = performance.now();
    try {
      return await resolver(hostname);
    } finally {
      remember(hostname, performance.now() - startedAt > SLOW_LOOKUP_MS);
      running -= 1;
      if (wasSlow) runningSlow -= 1;
      beginNext();
    }
  };
  return (hostname) =>
    new Promise((resolve) => {
      waiting.push({ hostname, begin: () => resolve(look(hostname)) });
      beginNext();
    });
};
