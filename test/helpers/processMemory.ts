import { readFile } from 'node:fs/promises';

/** A process's resident memory in MiB, now and at its peak; NaN where there is no /proc. */
export async function memoryOf(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const of = (name: string) =>
    Math.round(
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024,
    );
  return { now: of('VmRSS'), most: of('VmHWM') };
}
