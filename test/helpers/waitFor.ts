/** Asks until the answer is truthy. @throws Error with what was waited for */
export async function waitFor<T>(what: string, ask: () => T | Promise<T>, timeoutMs = 15_000): Promise<NonNullable<T>> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > giveUpAt) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
