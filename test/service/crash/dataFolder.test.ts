import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { BARE_ENV } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));
const KEY = `cs_live_${'F'.repeat(32)}`;

/**
 * A process tree of its own, where the holder's process cannot be seen; some systems let no user
 * make one.
 */
const OWN_PROCESSES = ['-rpf', '--mount-proc', '--kill-child'];
const hasNamespaces = (() => {
  try {
    execFileSync('unshare', [...OWN_PROCESSES, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

interface Run {
  readonly child: ChildProcess;
  out: string;
  err: string;
}

describe('a data folder', () => {
  let folder: string;
  let data: string;
  const runs: Run[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    data = join(folder, 'data');
  });
  afterEach(async () => {
    for (const { child } of runs.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  const run = (
    dataDir = data,
    command: string = process.execPath,
    args: string[] = [MAIN],
  ): Run => {
    const child = spawn(command, args, {
      env: { ...BARE_ENV, PORT: '0', DATA_DIR: dataDir, BOOTSTRAP_API_KEY: KEY },
    });
    const each: Run = { child, out: '', err: '' };
    child.stdout.on('data', (chunk) => (each.out += String(chunk)));
    child.stderr.on('data', (chunk) => (each.err += String(chunk)));
    runs.push(each);
    return each;
  };
  const started = (each: Run) => waitFor('the start', () => /"url":"([^"]+)"/.exec(each.out)?.[1]);
  /** @returns the one line that it ended with */
  const refusal = async (each: Run): Promise<string> => {
    const [code] =
      each.child.exitCode === null
        ? ((await once(each.child, 'close')) as [number | null])
        : [each.child.exitCode];
    expect(code).toBe(1);
    expect(each.err.trim().split('\n')).toHaveLength(1);
    return each.err;
  };

  describe('that is in use', () => {
    it('refuses a second process with the holder’s pid, also through a symlink, and takes one right after kill -9', async () => {
      const holder = run();
      await started(holder);
      await symlink(data, join(folder, 'link'));
      const paths = [data, join(folder, 'link'), join(folder, 'x', '..', 'data')];
      for (const line of await Promise.all(paths.map((path) => refusal(run(path))))) {
        expect(line).toMatch(
          new RegExp(
            `^conversation-service: The data folder .* is in use by process ${holder.child.pid}\\. Stop that process first`,
          ),
        );
      }
      holder.child.kill('SIGKILL');
      await once(holder.child, 'exit');
      await started(run(join(folder, 'link')));
    });

    (hasNamespaces ? it : it.skip)(
      'refuses a second process that cannot see the holder (another container), with the pid that the holder has',
      async () => {
        const holder = run();
        await started(holder);
        const other = run(data, 'unshare', [...OWN_PROCESSES, process.execPath, MAIN]);
        expect(await refusal(other)).toContain(`is in use by process ${holder.child.pid}.`);
        holder.child.kill('SIGTERM');
        await once(holder.child, 'exit');
        await started(run(data, 'unshare', [...OWN_PROCESSES, process.execPath, MAIN]));
      },
    );
  });

  describe('that is damaged', () => {
    /** What a service that was killed, or stopped in order, left: made once for each. */
    const left = new Map<string, string>();
    afterAll(async () => {
      for (const path of left.values()) await rm(path, { recursive: true, force: true });
    });
    const leave = async (signal: 'SIGKILL' | 'SIGTERM') => {
      const made = left.get(signal);
      if (made === undefined) {
        const service = run();
        const customer = await chatCustomer(await started(service));
        for (let n = 0; n < 5; n += 1) await customer.write(`message ${n}`);
        service.child.kill(signal);
        await once(service.child, 'exit');
        const copy = await mkdtemp(join(tmpdir(), 'conversation-service-'));
        left.set(signal, copy);
        await cp(data, copy, { recursive: true });
      } else await cp(made, data, { recursive: true });
      const path = join(data, 'journal-1.log');
      return { path, bytes: await readFile(path) };
    };
    const flip = (bytes: Buffer, at: number) => {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 0x10;
      return changed;
    };

    it.each([
      [
        'one bit flipped in the middle',
        (bytes: Buffer) => flip(bytes, Math.floor(bytes.length / 2)),
      ],
      ['its middle filled with NULs', (bytes: Buffer) => Buffer.from(bytes).fill(0, 1000, 1400)],
    ])(
      'by %s of the journal stops the start with file, position and the way out, and is left as it is',
      async (_what, damage) => {
        const { path, bytes } = await leave('SIGKILL');
        const damaged = damage(bytes);
        await writeFile(path, damaged);
        expect(await refusal(run())).toMatch(
          /^conversation-service: The journal is damaged and acknowledged data follows the damage \(journal-1\.log, byte \d+\)\. Nothing was changed\. Restore the whole data folder from a backup; or copy the folder and .*truncate -s \d+ journal-1\.log/,
        );
        expect(await readFile(path)).toEqual(damaged);
      },
    );

    it('by the loss of the journal stops the start', async () => {
      const { path } = await leave('SIGTERM');
      await rm(path);
      expect(await refusal(run())).toMatch(
        /\(journal-1\.log, byte 0\)\. Nothing was changed\. Restore the whole data folder from a backup/,
      );
      expect(await readdir(data)).not.toContain('journal-1.log');
    });

    it.each([
      [
        'a wrong byte in its very last frame, after a stop in order,',
        'SIGTERM',
        (bytes: Buffer) => flip(bytes, bytes.length - 10),
      ],
      [
        'a wrong byte in its very last frame, after kill -9,',
        'SIGKILL',
        (bytes: Buffer) => flip(bytes, bytes.length - 10),
      ],
      [
        'nothing but NULs, after kill -9,',
        'SIGKILL',
        (bytes: Buffer) => Buffer.alloc(bytes.length),
      ],
    ] as const)('by %s stops the start and is left as it is', async (_what, signal, damage) => {
      const { path, bytes } = await leave(signal);
      const damaged = damage(bytes);
      await writeFile(path, damaged);
      expect(await refusal(run())).toMatch(
        /everything up to frame \d+ was acknowledged \(journal-1\.log, byte \d+\)\. Nothing was changed\. Restore .* remove the file acknowledged\.json/,
      );
      expect(await readFile(path)).toEqual(damaged);
    });

    it('only by a torn last line, after kill -9, is cut and started', async () => {
      const { path, bytes } = await leave('SIGKILL');
      // Half of one more frame than was acknowledged.
      const frame = bytes.subarray(bytes.lastIndexOf(0x1e));
      await writeFile(path, Buffer.concat([bytes, frame.subarray(0, frame.length / 2)]));
      const again = run();
      await started(again);
      expect(again.out).toMatch(
        /journal-1\.log ends in an unfinished frame at byte \d+; it was never acknowledged and is cut off/,
      );
    });
  });
});
