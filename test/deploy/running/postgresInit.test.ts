import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { findProgram } from './proxies.ts';
import { findPostgres, INSTALL_POSTGRES } from '../../postgres/programs.ts';
import { startPostgres, type PostgresServer } from '../../postgres/server.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('../../../deploy/postgres-init.sh', import.meta.url));
const isHere = findPostgres() !== null && findProgram('psql') !== null;

describe('deploy/postgres-init.sh', () => {
  const test = isHere ? it : it.skip;
  let server: PostgresServer;
  beforeAll(async () => {
    if (!isHere) return void process.stderr.write(`${INSTALL_POSTGRES}\n`);
    server = await startPostgres({ fsync: false });
    const { username, password, port } = new URL(server.adminUrl);
    const passwords = { SERVICE_POSTGRES_PASSWORD: `it's "one`, N8N_POSTGRES_PASSWORD: 'two' };
    await run('sh', [script], {
      env: {
        PATH: `${dirname(findProgram('psql')!)}:${process.env.PATH}`,
        PGHOST: '127.0.0.1',
        PGPORT: port,
        PGPASSWORD: decodeURIComponent(password),
        POSTGRES_USER: username,
        ...passwords,
      },
    });
  });
  afterAll(() => server?.stop());

  const openAs = async <T>(
    user: string,
    password: string,
    database: string,
    ask: (client: pg.Client) => Promise<T>,
  ): Promise<T> => {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: server.port,
      user,
      password,
      database,
    });
    await client.connect();
    try {
      return await ask(client);
    } finally {
      await client.end();
    }
  };
  const makesSchema = async (client: pg.Client) => {
    await client.query('CREATE SCHEMA one CREATE TABLE t (x int)');
    return (
      await client.query(
        'SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user',
      )
    ).rows[0] as unknown;
  };
  const nothingMore = { rolsuper: false, rolcreatedb: false, rolcreaterole: false };

  test('gives the service and n8n a role and a database each, in which they may do everything', async () => {
    expect(
      await openAs('conversation_service', `it's "one`, 'conversation_service', makesSchema),
    ).toEqual(nothingMore);
    expect(await openAs('n8n', 'two', 'n8n', makesSchema)).toEqual(nothingMore);
  });

  test('lets neither into the other’s', async () => {
    await expect(openAs('n8n', 'two', 'conversation_service', makesSchema)).rejects.toThrow(
      /permission denied for database/,
    );
    await expect(openAs('conversation_service', `it's "one`, 'n8n', makesSchema)).rejects.toThrow(
      /permission denied for database/,
    );
  });
});
