import { spawnSync } from 'node:child_process';
import { appendFile, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, it } from '@jest/globals';
import pg from 'pg';
import { waitFor } from '../../helpers/waitFor.ts';
import { query } from '../client.ts';
import {
  expectRecovery,
  openOutageStage,
  readiness,
  waitUntilReady,
  type OutageStage,
} from './outageStage.ts';

/** Whether this machine lets us have a small disk of our own (root on Linux). */
function mountSmallDisk(folder: string, size: string): boolean {
  return (
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=1777`, 'tmpfs', folder]).status ===
    0
  );
}

describe('PostgreSQL is at its limits', () => {
  let stage: OutageStage | undefined;
  const hogs: pg.Client[] = [];
  let isHogging = false;
  afterEach(async () => {
    isHogging = false;
    await Promise.all(hogs.splice(0).map((hog) => hog.end()));
    await stage?.close();
    stage = undefined;
  });

  /** Takes every connection there is, and each that comes free, until it is told to stop. */
  const hog = async (url: string) => {
    isHogging = true;
    while (isHogging) {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => {});
      try {
        await client.connect();
        hogs.push(client);
      } catch {
        await sleep(20);
      }
    }
  };

  it('no connection is left: 503 with the reason, and the service goes on by itself when one is free', async () => {
    stage = await openOutageStage({
      roles: ['api', 'worker'],
      postgres: { settings: { max_connections: '30' } },
    });
    const { server, cluster } = stage;
    const writers = await stage.startWriters();
    const hogging = hog(server.url);
    const why = /too many clients|connection slots/;
    await waitFor(
      'the process to say why',
      async () => {
        // Ends the service's connections, as happens when they are idle for a while. Until the hog
        // is faster, the service opens them again.
        await query(
          server.adminUrl,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '${cluster.schema}-%'`,
        );
        return why.test((await readiness(cluster.processes[0]!.url)).problems);
      },
      { everyMs: 200 },
    );
    await waitFor('a refusal', () => writers.answers.some(({ status }) => status === 503));

    isHogging = false;
    await hogging;
    await Promise.all(hogs.splice(0).map((each) => each.end()));
    await waitUntilReady(cluster);
    await expectRecovery(writers, stage, [202, 503]);
  }, 240_000);

  it('its disk is full: 503 with the reason, and the service goes on by itself when there is room again', async () => {
    const disk = await mkdtemp(join(tmpdir(), 'small-disk-'));
    if (!mountSmallDisk(disk, '250m')) {
      process.stderr.write(
        'Not tested: a full disk of PostgreSQL (only root on Linux may mount a small one).\n',
      );
      return;
    }
    const filler = join(disk, 'filler');
    try {
      stage = await openOutageStage({
        roles: ['api', 'worker'],
        postgres: { within: disk, settings: { min_wal_size: '64MB', max_wal_size: '96MB' } },
      });
      const { server, cluster } = stage;
      const writers = await stage.startWriters(5);
      // PostgreSQL would end if it had no room for the next part of its log, before any table lacked
      // room. So it makes the next parts now, of those that it no longer needs.
      for (let part = 0; part < 3; part += 1) {
        await query(server.adminUrl, 'SELECT pg_switch_wal()');
        await query(server.adminUrl, 'CHECKPOINT');
      }
      // Connections that the server frees in the meantime are taken too.
      const fill = async () => {
        const { bavail, bsize } = await statfs(disk);
        await appendFile(filler, Buffer.alloc(bavail * bsize)).catch(() => {}); // it was faster
      };
      await waitFor('the process to say why', async () => {
        await fill();
        return (await readiness(cluster.processes[0]!.url)).problems.includes(
          'No space left on device',
        );
      });
      await waitFor('a refusal', () => writers.answers.some(({ status }) => status === 503));
      await rm(filler);
      await server.resume(); // should it have ended all the same
      await waitUntilReady(cluster);
      await expectRecovery(writers, stage, [202, 503]);
    } finally {
      await rm(filler, { force: true });
      await stage?.close();
      stage = undefined;
      spawnSync('umount', ['--lazy', disk]);
      await rm(disk, { recursive: true, force: true });
    }
  }, 240_000);
});
