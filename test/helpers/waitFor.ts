export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * Asks again and again until the answer is truthy; an ask that throws is asked again too.
 * @throws Error naming what was waited for, with the last error as its cause
 */
export async function waitFor<T>(
  what: string,
  ask: () => T | Promise<T>,
  { timeoutMs = 60_000, everyMs = 20 }: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const giveUpAt = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer) return answer as Exclude<T, undefined | null | false>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > giveUpAt)
      throw new Error(`waited ${timeoutMs / 1000} s in vain for ${what}`, { cause: lastError });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
