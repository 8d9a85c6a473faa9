import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const child = fileURLToPath(new URL('./fullDisk.child.ts', import.meta.url));
const run = promisify(execFile);

/**
 * A mount that nobody else sees and that goes with its process; some systems let no user make one.
 */
const IN_OWN_MOUNTS = ['-rm', 'sh', '-c'];
const canMount = (() => {
  try {
    execFileSync('unshare', [...IN_OWN_MOUNTS, `mount -t tmpfs none ${tmpdir()}`], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();

describe('a full disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-full-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const shell = async (command: string, args: string[], script: string) => {
    const { stdout } = await run(command, [...args, script, 'sh', process.execPath, child, folder]);
    return JSON.parse(stdout) as { acknowledged: number; faults: string[] };
  };

  // Works for every user: the operating system refuses to let any file grow past 2 MiB.
  it('that limits the size of files loses nothing acknowledged, and writing goes on', async () => {
    const { acknowledged, faults } = await shell(
      'sh',
      ['-c'],
      'ulimit -f 4096; exec "$1" "$2" "$3"',
    );
    expect(acknowledged).toBeGreaterThan(10);
    expect(faults).toHaveLength(3);
    expect(faults[0]).toMatch(/EFBIG/);
  }, 60_000);

  // Where no mount can be made, the test above and the injected ENOSPC of outage.test.ts stand
  // alone.
  (canMount ? it : it.skip)(
    'of a small file system (needs permission to mount one) recovers when there is room again',
    async () => {
      const script =
        'mount -t tmpfs -o size=8m none "$3" && head -c 4194304 /dev/zero > "$3/ballast" && exec "$1" "$2" "$3/data" "$3/ballast"';
      const { acknowledged, faults } = await shell('unshare', IN_OWN_MOUNTS, script);
      expect(acknowledged).toBeGreaterThan(10);
      for (const fault of faults) expect(fault).toMatch(/no space is left on the disk \(ENOSPC\)/);
    },
    60_000,
  );
});
