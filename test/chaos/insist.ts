import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer } from '../helpers/apiClient.ts';

const AGAIN_MS = 25;

/** Asks until there is an answer that is no 503. */
export async function insist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer !== null && (answer as Partial<ApiAnswer>).status !== 503) return answer;
    await sleep(AGAIN_MS);
  }
}
