import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogOutput } from '../../../service/src/app/logOutput.ts';

const child = fileURLToPath(new URL('./logOutput.child.ts', import.meta.url));
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('the log', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-log-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('writes line after line', () => {
    const fd = openSync(join(folder, 'log'), 'w');
    const output = new LogOutput(fd);
    output.write('{"a":1}\n');
    output.write('{"b":"é"}\n');
    closeSync(fd);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('{"a":1}\n{"b":"é"}\n');
  });

  it('ignores a descriptor that cannot be written to', () => {
    const fd = openSync(join(folder, 'log'), 'w');
    closeSync(fd);
    expect(() => new LogOutput(fd).write('lost\n')).not.toThrow();
  });

  // The child's file may grow to 4 blocks of the shell's size (2 or 4 KiB), later without a limit.
  onLinux(
    'drops what does not fit, says how much when there is room again, and leaves whole lines',
    () => {
      const log = join(folder, 'log');
      execFileSync('sh', [
        '-c',
        'ulimit -S -f 4; exec "$0" "$1" "$2"',
        process.execPath,
        child,
        log,
      ]);
      const lines = readFileSync(log, 'utf8').split('\n');
      expect(lines.pop()).toBe('');
      const whole = lines.flatMap((line) => {
        try {
          return [JSON.parse(line) as { n?: number; dropped?: number; reason?: string }];
        } catch {
          return [];
        }
      });
      expect(whole.length).toBeGreaterThanOrEqual(lines.length - 1); // at most the one that was cut
      const note = whole.findIndex(({ dropped }) => dropped !== undefined);
      expect(whole[note]).toMatchObject({ reason: 'EFBIG' });
      const numbers = whole.flatMap(({ n }) => n ?? []);
      expect(numbers.length + whole[note]!.dropped!).toBe(200 + 5);
      expect(whole.slice(note + 1).map(({ n }) => n)).toEqual([200, 201, 202, 203, 204]);
    },
  );

  it('is not held up by a reader that does not read', async () => {
    const writer = spawn(process.execPath, [child, 'pipe'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      // Nobody reads standard output here either: the child ends all the same.
      const [code] = (await once(writer, 'exit')) as [number | null];
      expect(code).toBe(0);
    } finally {
      writer.kill('SIGKILL');
    }
  });
});
