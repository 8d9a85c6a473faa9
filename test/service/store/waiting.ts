import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when the condition holds; what it waits for is named when it never does. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> => {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await sleep(5);
  }
};

/** A logger that remembers. */
export const listeningLog = () => {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  return { lines, info: note, warn: note, error: note };
};
