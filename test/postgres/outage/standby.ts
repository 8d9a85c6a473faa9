// A hot standby of a test's server: takes connections, and reads only.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { query } from '../client.ts';
import { findPostgres, postgresUser } from '../programs.ts';
import type { PostgresServer } from '../server.ts';

interface Standby {
  readonly port: number;
  stop(): Promise<void>;
}

/** @throws Error with what pg_basebackup said */
export async function startStandby({
  adminUrl,
}: Pick<PostgresServer, 'adminUrl'>): Promise<Standby> {
  const programs = findPostgres()!;
  const user = postgresUser();
  const folder = await mkdtemp(join(tmpdir(), 'postgres-standby-'));
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  const copy = spawnSync(
    join(programs, 'pg_basebackup'),
    [
      '--pgdata',
      data,
      '--write-recovery-conf',
      '--checkpoint=fast',
      '--no-sync',
      '--dbname',
      adminUrl,
    ],
    { ...user, cwd: folder, env, encoding: 'utf8' },
  );
  if (copy.status !== 0) throw new Error(`pg_basebackup failed: ${copy.stderr}`);
  const port = await freePort();
  // A standby refuses readers when its max_connections is below the primary's.
  const [primary] = await query<{ max_connections: string }>(adminUrl, 'SHOW max_connections');
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    ...primary,
  };
  const server = spawn(
    join(programs, 'postgres'),
    [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    { ...user, cwd: folder, env, stdio: 'ignore' },
  );
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      const gone = once(server, 'exit');
      server.kill('SIGQUIT');
      await gone;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitFor('the standby to take connections', () => isStandby(adminUrl, port));
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function isStandby(adminUrl: string, port: number): Promise<boolean> {
  const url = new URL(adminUrl);
  url.port = String(port);
  const [row] = await query<{ is: boolean }>(url.href, 'SELECT pg_is_in_recovery() AS is');
  return row!.is;
}
