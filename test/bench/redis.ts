// The bench's own Redis: on a random port of 127.0.0.1, in a temporary folder, gone when the bench
// ends.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../helpers/program.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { adopt, temporaryFolder } from './children.ts';

/**
 * When Redis makes its append-only file durable. `always`: before it answers. `everysec`: up to a
 * second later.
 */
export type Appendfsync = 'everysec' | 'always';

export interface Redis {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** @returns null when redis-server is not installed */
export function redisVersion(): string | null {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/v=(\S+)/.exec(stdout)?.[1] ?? 'unknown') : null;
}

/**
 * Installs redis-server from the system's packages, where that is possible and needed.
 * @returns null, or why there is none
 */
export function ensureRedis(): string | null {
  if (redisVersion() !== null) return null;
  if (process.getuid?.() !== 0)
    return 'redis-server is not installed, and only root can install it: apt-get install redis-server';
  console.log('  installing redis-server by apt-get');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', 'redis-server'],
  ])
    spawnSync('apt-get', args, { env, stdio: 'ignore' });
  return redisVersion() === null
    ? 'redis-server is not installed, and apt-get could not install it'
    : null;
}

/** The settings that differ from Redis' defaults, as its command line has them. */
export const redisSettings = (appendfsync: Appendfsync): string[] => [
  '--appendonly',
  'yes',
  '--appendfsync',
  appendfsync,
  '--save',
  '',
];

export async function startRedis(appendfsync: Appendfsync): Promise<Redis> {
  const port = await freePort();
  const folder = temporaryFolder();
  const args = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    folder,
    '--daemonize',
    'no',
    ...redisSettings(appendfsync),
  ];
  const child = adopt(spawn('redis-server', args, { cwd: folder, stdio: 'ignore' }));
  await waitFor('redis-server to answer', () => answers(port));
  return {
    port,
    pid: child.pid!,
    async stop() {
      const gone = child.exitCode === null ? once(child, 'exit') : null;
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** Whether it answers a PING. */
const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.on('error', () => resolve(false));
    socket.on('data', (data) => {
      resolve(data.toString().startsWith('+PONG'));
      socket.destroy();
    });
  });
