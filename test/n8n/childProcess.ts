// Programs that tests and the demo start: waited for by condition, stopped by their own process id.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanEnv, tailOf } from './runtime.ts';

export interface UntilOptions {
  timeoutMs?: number;
  everyMs?: number;
}

/**
 * Asks again and again until the probe gives something; a probe that throws is asked again too.
 * @throws after timeoutMs, naming what was waited for and the probe's last error
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  { timeoutMs = 30_000, everyMs = 100 }: UntilOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false) return found;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${what}.`, { cause: lastError });
    }
    await sleep(everyMs);
  }
}

/**
 * A port nobody listens on now, below those that systems give to outgoing connections: a program
 * that is stopped and started again must find it free.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(randomInt(20_000, 32_000), '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return await freePort();
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface ProgramOptions {
  /** A word for messages. */
  name: string;
  /** The script, run with this very Node. */
  script: string;
  args?: readonly string[];
  cwd?: string;
  env: NodeJS.ProcessEnv;
  /** Its output is appended here; the end of it is shown when it does not start. */
  logFile: string;
}

/** A running Node program. */
export interface Program {
  readonly pid: number;
  readonly exited: boolean;
  /** Waits until the program is ready; gives up at once when it ends before. */
  ready(probe: () => Promise<boolean>, options?: UntilOptions): Promise<void>;
  /** SIGTERM, and SIGKILL when it has not ended within the grace; resolves once it is gone. */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL: what a power cut or the kernel would do. */
  kill(): Promise<void>;
}

export async function startProgram({ name, script, args = [], cwd, env, logFile }: ProgramOptions): Promise<Program> {
  const log = await open(logFile, 'a');
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: cleanEnv(env),
    stdio: ['ignore', log.fd, log.fd],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  ended.catch(() => {});
  await once(child, 'spawn');
  await log.close(); // the child has its own copy
  const exited = () => child.exitCode !== null || child.signalCode !== null;

  return {
    pid: child.pid!,
    get exited() {
      return exited();
    },
    async ready(probe, options) {
      try {
        await until(
          `${name} to be ready`,
          async () => exited() || (await probe()),
          options,
        );
      } catch (error) {
        throw new Error(`${(error as Error).message} The end of ${logFile}:\n${await tailOf(logFile)}`, { cause: error });
      }
      if (exited()) throw new Error(`${name} ended while starting. The end of ${logFile}:\n${await tailOf(logFile)}`);
    },
    async stop(graceMs = 20_000) {
      if (exited()) return;
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(late);
    },
    async kill() {
      if (exited()) return;
      child.kill('SIGKILL');
      await ended;
    },
  };
}
