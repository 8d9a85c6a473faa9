import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { freePort, runCommand } from '../../helpers/program.ts';
import { startServiceProcess } from '../../helpers/serviceProcess.ts';
import { listenTracked } from '../../helpers/trackedServer.ts';
import { query } from '../client.ts';
import { startPostgres, type PostgresServer } from '../server.ts';
import { startStandby } from './standby.ts';

/** No command: `main.js` starts the service. */
const SERVICE: string[] = [];
const randomKey = () => randomBytes(32).toString('base64');
jest.setTimeout(180_000);

describe('a start on a database ends in one line, without the password, when', () => {
  let server: PostgresServer;
  let folder: string;
  let password: string;

  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
    ({ password } = new URL(server.url));
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  });
  afterAll(async () => {
    await server?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** The server's URL with a change. */
  const address = (change: (url: URL) => void): string => {
    const url = new URL(server.url);
    change(url);
    return url.href;
  };
  /** A command opens the database as the service does, and starts in less time. */
  const start = (env: Record<string, string>, command = ['key', 'list']) =>
    runCommand(
      command,
      {
        PORT: '0',
        DATA_DIR: join(folder, 'data'),
        DATABASE_CONNECTIONS: '4',
        ENCRYPTION_KEY: randomKey(),
        ...env,
      },
      { cwd: folder },
    );
  /** With LOG_LEVEL=debug the stack follows the line: the message again, and where it failed. */
  const expectRefusal = async (
    env: Record<string, string>,
    message: RegExp,
    secrets: readonly string[] = [password],
    command?: string[],
  ) => {
    const { code, out, err } = await start({ ...env, LOG_LEVEL: 'debug' }, command);
    const [line = '', , ...trace] = err.trimEnd().split('\n');
    expect(code).toBe(1);
    expect(line).toMatch(message);
    expect(trace.filter((each) => !/^ {4}at /.test(each))).toEqual([]);
    for (const secret of secrets) expect(err + out).not.toContain(secret);
  };

  it('the password is wrong', async () => {
    const wrong = 'wr0ng-p4ssword';
    await expectRefusal(
      { DATABASE_URL: address((url) => (url.password = wrong)) },
      /^conversation-service: The database at 127\.0\.0\.1:\d+\/service cannot be used: password authentication failed for user "service"\. Check user and password in DATABASE_URL\.$/,
      [wrong],
      SERVICE,
    );
  });

  it('the password holds characters that must be escaped in an address', async () => {
    const [strange, broken] = ['p@ss/w:rd?#', '%zz-p4ssword'];
    await expectRefusal(
      { DATABASE_URL: address((url) => (url.password = encodeURIComponent(strange))) },
      /password authentication failed/,
      [strange, encodeURIComponent(strange)],
    );
    const url = server.url.replace(password, broken);
    await expectRefusal(
      { DATABASE_URL: url },
      /^conversation-service: DATABASE_URL must be the address of a PostgreSQL database.*%25/,
      [broken],
    );
  });

  it('the password is left out', () =>
    expectRefusal(
      { DATABASE_URL: address((url) => (url.password = '')) },
      /cannot be used: it asks for a password, and the address holds none\. Put it into DATABASE_URL\.$/,
    ));

  it('it has no TLS, which sslmode=require asks for; without LOG_LEVEL=debug, nothing follows the line', async () => {
    const env = { DATABASE_URL: `${server.url}?sslmode=require` };
    const message = /^.* cannot be used: The server does not support SSL connections$/;
    await expectRefusal(env, message);
    const { code, out, err } = await start(env, SERVICE);
    expect([code, out, err.split('\n')]).toEqual([1, '', [expect.stringMatching(message), '']]);
  });

  it('the file that sslrootcert names cannot be read', () =>
    expectRefusal(
      { DATABASE_URL: `${server.url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem` },
      /cannot be used: ENOENT: no such file or directory, open '\/nowhere\/ca\.pem'/,
    ));

  it('the host is unknown', () =>
    expectRefusal(
      { DATABASE_URL: address((url) => (url.hostname = 'nowhere.invalid')) },
      /^conversation-service: The database at nowhere\.invalid:\d+\/service cannot be used: getaddrinfo E\w+ nowhere\.invalid\. Check the host in DATABASE_URL\.$/,
    ));

  it('nobody listens on the port', async () => {
    const port = String(await freePort());
    await expectRefusal(
      { DATABASE_URL: address((url) => (url.port = port)) },
      new RegExp(
        `The database at 127\\.0\\.0\\.1:${port}/service cannot be used: connect ECONNREFUSED 127\\.0\\.0\\.1:${port}\\. Is PostgreSQL running there`,
      ),
    );
  });

  it('nobody listens at any of the addresses that a host has', async () => {
    const port = String(await freePort());
    await expectRefusal(
      { DATABASE_URL: address((url) => ((url.hostname = 'localhost'), (url.port = port))) },
      /cannot be used: connect ECONNREFUSED .*Is PostgreSQL running there/,
    );
  });

  it('what listens on the port is not PostgreSQL', async () => {
    const other = createServer((_request, response) => void response.end());
    const { port, close } = await listenTracked(other, 0, '127.0.0.1');
    try {
      await expectRefusal(
        { DATABASE_URL: address((url) => (url.port = String(port))) },
        new RegExp(`The database at 127\\.0\\.0\\.1:${port}/service cannot be used: .+`),
      );
    } finally {
      await close();
    }
  });

  it('the database does not exist', () =>
    expectRefusal(
      { DATABASE_URL: address((url) => (url.pathname = '/missing')) },
      /cannot be used: database "missing" does not exist\. Create it, or name another one in DATABASE_URL\.$/,
    ));

  it('its user may not make the schema', async () => {
    await query(server.adminUrl, `CREATE ROLE guest LOGIN PASSWORD '${password}'`);
    await expectRefusal(
      { DATABASE_URL: address((url) => (url.username = 'guest')) },
      /cannot be used: permission denied for database service\. Its user needs the right to make the schema conversation_service \(GRANT/,
    );
  });

  it('it takes no more connections', async () => {
    await query(server.adminUrl, `CREATE ROLE few LOGIN CONNECTION LIMIT 0 PASSWORD '${password}'`);
    await expectRefusal(
      { DATABASE_URL: address((url) => (url.username = 'few')) },
      /cannot be used: too many connections for role "few"\. Raise the server's max_connections/,
    );
  });

  it('it is read only', async () => {
    await query(
      server.adminUrl,
      `CREATE ROLE reader LOGIN PASSWORD '${password}'; ALTER ROLE reader SET default_transaction_read_only = on`,
    );
    await expectRefusal(
      { DATABASE_URL: address((url) => (url.username = 'reader')) },
      /cannot be used: it is set to read only/,
    );
  });

  it('it is a standby', async () => {
    const standby = await startStandby(server);
    try {
      await expectRefusal(
        { DATABASE_URL: address((url) => (url.port = String(standby.port))) },
        /cannot be used: it is a standby, which cannot be written to\. Name the primary in DATABASE_URL$/,
      );
    } finally {
      await standby.stop();
    }
  });

  it('its schema holds the tables of another program, to which nothing is added', async () => {
    const foreign = {
      'accounts, conversations':
        'CREATE TABLE accounts (id int); CREATE TABLE conversations (id int)',
      // As n8n keeps its migrations.
      workflow_entity: `CREATE TABLE workflow_entity (id int); CREATE TABLE migrations (id int, timestamp bigint, name text);
        INSERT INTO migrations VALUES (1, 1, 'Initial1')`,
      'migrations, orders': 'CREATE TABLE orders (id int); CREATE TABLE migrations (version int)',
      migrations: 'CREATE TABLE migrations (id int, migration text, batch int)',
    };
    for (const [n, [named, statements]] of Object.entries(foreign).entries()) {
      const schema = `foreign_${n}`;
      await query(
        server.url,
        `CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${statements}`,
      );
      const tables = () =>
        query(server.url, 'SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema]);
      const before = await tables();
      await expectRefusal(
        { DATABASE_URL: server.url, DATABASE_SCHEMA: schema },
        new RegExp(
          `cannot be used: its schema ${schema} holds tables that are not ours \\(${named}\\)\\. Set DATABASE_SCHEMA to a name that nothing else uses\\.$`,
        ),
      );
      expect(await tables()).toEqual(before);
    }
  });

  it('its data was written with another ENCRYPTION_KEY, or its schema belongs to a newer version', async () => {
    const [right, wrong] = [randomKey(), randomKey()];
    const env = { DATABASE_URL: server.url, DATABASE_SCHEMA: 'used', ENCRYPTION_KEY: right };
    const service = await startServiceProcess({ env });
    await service.close();
    await expectRefusal(
      { ...env, ENCRYPTION_KEY: wrong },
      /^conversation-service: The encryption key is not the one that this data was written with\./,
      [password, right, wrong],
      SERVICE,
    );
    await query(
      server.url,
      `INSERT INTO used.migrations (name, timestamp) VALUES ('9999_from_the_future', '')`,
    );
    await expectRefusal(
      env,
      /cannot be used: its schema used belongs to a newer version of conversation-service \(it has 9999_from_the_future\)\. Start that version, or restore a backup from before the upgrade\.$/,
      [password, right],
      SERVICE,
    );
  });
});
