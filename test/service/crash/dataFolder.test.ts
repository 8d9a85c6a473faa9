import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { BARE_ENV, MAIN } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const KEY = `cs_live_${'F'.repeat(32)}`;

/** For `unshare`: a process tree of its own, in which the holder's process cannot be seen. */
const OWN_PROCESSES = ['-rpf', '--mount-proc', '--kill-child'];
/** Some systems let no user make one. */
const canHideProcesses = (() => {
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
    const [code] = await once(each.child, 'close');
    expect(code).toBe(1);
    expect(each.err.trim().split('\n')).toHaveLength(1);
    return each.err;
  };

  it('in use refuses a second process and names the holder’s pid, even through a symlink or to a process that cannot see the holder, and is free right after kill -9', async () => {
    const holder = run();
    await started(holder);
    const link = join(folder, 'link');
    await symlink(data, link);
    expect(await refusal(run(link))).toMatch(
      new RegExp(
        `^conversation-service: The data folder .* is in use by process ${holder.child.pid}\\. Stop that process first`,
      ),
    );
    // As in another container, by a command, which opens the folder as a start does.
    if (canHideProcesses) {
      const list = [process.execPath, MAIN, 'key', 'list'];
      const other = run(data, 'unshare', [...OWN_PROCESSES, ...list]);
      expect(await refusal(other)).toContain(`is in use by process ${holder.child.pid}.`);
    }
    holder.child.kill('SIGKILL');
    await once(holder.child, 'exit');
    await started(run(link));
  });

  // All kinds of damage: test/service/store/journal.test.ts.
  it('of a killed service, damaged in the middle of its journal, stops the start with file, position and the way out, and is left as it is', async () => {
    const killed = run();
    const customer = await chatCustomer(await started(killed));
    for (let n = 0; n < 5; n += 1) await customer.write(`message ${n}`);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    const journal = join(data, 'journal-1.log');
    const damaged = await readFile(journal);
    damaged[Math.floor(damaged.length / 2)]! ^= 0x10;
    await writeFile(journal, damaged);
    expect(await refusal(run())).toMatch(
      /^conversation-service: The journal is damaged and acknowledged data follows the damage \(journal-1\.log, byte \d+\)\. Nothing was changed\. Restore the whole data folder from a backup; or copy the folder and .*truncate -s \d+ journal-1\.log/,
    );
    expect(await readFile(journal)).toEqual(damaged);
  });
});
