import type { HeapAt } from '../../../helpers/heapAt.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

interface Readiness {
  readonly status: string;
  readonly warnings?: readonly string[];
}

export const readiness = async (url: string) => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, body: (await answer.json()) as Readiness };
};

/**
 * Makes the heap look as if stored data took this share of it, and waits until the service says
 * what it refuses.
 * @param refuses words of its warning; null: nothing is refused
 */
export const fillMemory = (heap: HeapAt, url: string, share: number, refuses: string | null) => {
  heap.collected(share);
  return waitFor(`what is refused at a heap share of ${share}`, async () => {
    const { warnings = [] } = (await readiness(url)).body;
    const told = warnings.find((words) => words.includes('refused with 503'));
    return refuses === null ? told === undefined : told?.includes(refuses);
  });
};
