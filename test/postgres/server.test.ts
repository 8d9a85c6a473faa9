import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../helpers/waitFor.ts';
import { query } from './client.ts';
import { startPostgres, type PostgresServer } from './server.ts';

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The first value of each row. */
const ask = async (url: string, sql: string): Promise<unknown[]> =>
  (await query(url, sql)).map((row) => Object.values(row)[0]);

describe("a test's own PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('runs as most servers do: fsync on, texts sorted by a language, an ordinary role that owns the database', async () => {
    expect(await ask(server.url, 'SHOW fsync')).toEqual(['on']);
    expect(await ask(server.url, `SELECT 'a' < 'B'`)).toEqual([true]);
    expect(
      await ask(server.url, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user'),
    ).toEqual([false]);
    await ask(server.url, 'CREATE SCHEMA mine');
  });

  it('asks for the password', async () => {
    const url = new URL(server.url);
    url.password = 'wrong';
    await expect(ask(url.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  });

  it.each(['fast', 'immediate'] as const)(
    'keeps what was committed over a restart (%s), on the same port',
    async (how) => {
      await ask(server.url, `CREATE TABLE ${how}_restart AS SELECT 1 AS kept`);
      const { pid } = server;
      await server.restart(how);
      expect(server.pid).not.toBe(pid);
      expect(isRunning(pid)).toBe(false);
      expect(await ask(server.url, `SELECT kept FROM ${how}_restart`)).toEqual([1]);
    },
  );

  it('refuses connections between a pause and its end', async () => {
    await server.pause('fast');
    await expect(ask(server.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await server.resume();
    expect(await ask(server.url, 'SELECT 1')).toEqual([1]);
  });

  it('cuts connections in the middle of a statement', async () => {
    const sleeping = ask(server.url, 'SELECT pg_sleep(600)');
    const cut = expect(sleeping).rejects.toThrow(
      'terminating connection due to administrator command',
    );
    await waitFor(
      'the statement to run',
      async () =>
        (
          await ask(
            server.url,
            `SELECT pid FROM pg_stat_activity WHERE query LIKE '%600%' AND state = 'active' AND pid <> pg_backend_pid()`,
          )
        ).length === 1,
    );
    expect(await server.cutConnections()).toBe(1);
    await cut;
  });

  it('leaves no process and no file behind when it is stopped', async () => {
    const other = await startPostgres({ fsync: false });
    expect(await ask(other.url, 'SHOW fsync')).toEqual(['off']);
    await other.stop();
    expect(isRunning(other.pid)).toBe(false);
    expect(existsSync(dirname(other.logFile))).toBe(false);
    await other.stop();
  });

  it('ends with the program that started it, even by SIGKILL', async () => {
    const parent = spawn(
      process.execPath,
      [fileURLToPath(new URL('heldServer.child.ts', import.meta.url))],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
    const { url, pid, logFile } = JSON.parse(line) as { url: string; pid: number; logFile: string };
    expect(await ask(url, 'SELECT 1')).toEqual([1]);
    parent.kill('SIGKILL');
    await waitFor('the server to end', () => !isRunning(pid));
    await waitFor('its folder to go', () => !existsSync(dirname(logFile)));
  });

  it('says how to install PostgreSQL when it is missing', async () => {
    await expect(startPostgres({ folders: ['/nowhere'] })).rejects.toThrow(
      'PostgreSQL is not installed. Install it: `apt-get install -y postgresql`',
    );
  });
});
