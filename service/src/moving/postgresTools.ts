import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { getCACertificates } from 'node:tls';
import { linesOf } from '../platform/lines.ts';
import type { StoreLocation } from '../store/openStore.ts';

type DatabasePlace = Pick<NonNullable<StoreLocation['database']>, 'url' | 'schema'>;
type Program = 'pg_dump' | 'pg_restore';

/** Dumps the schema as of one moment, while all processes go on. */
export const dumpDatabase = (place: DatabasePlace, file: string): Promise<void> =>
  runOn(place, 'pg_dump', ['--format=custom', `--schema=${place.schema}`, `--file=${file}`]);

/** Reads all of a dump, or nothing, into a database that does not have its schema. */
export const restoreDatabase = (place: DatabasePlace, file: string): Promise<void> =>
  runOn(place, 'pg_restore', [
    '--no-owner',
    '--exit-on-error',
    '--single-transaction',
    `--dbname=${nameOf(place)}`,
    file,
  ]);

/**
 * Reads all of a dump, and needs no database.
 * @returns the number of rows of each table that has some
 */
export async function countDump(file: string): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  let table: string | null = null;
  await run('pg_restore', ['--data-only', '--file=-', file], process.env, (line) => {
    if (table === null) table = COPY.exec(line)?.[1] ?? null;
    else if (line === '\\.') table = null;
    else counts[table] = (counts[table] ?? 0) + 1;
  });
  return counts;
}

/** The name of a table, without its schema. */
const COPY = /^COPY [^.]+\.(\S+) .*FROM stdin;$/;

const nameOf = ({ url }: DatabasePlace) => decodeURIComponent(new URL(url).pathname.slice(1));

/** Runs a program on the database. It trusts the same authorities as the service. */
async function runOn(place: DatabasePlace, program: Program, args: readonly string[]) {
  const env = { ...process.env, ...environmentOf(place) };
  if (env['PGSSLMODE'] !== 'verify-full' || env['PGSSLROOTCERT'] !== undefined)
    return run(program, args, env);
  const folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  try {
    const authorities = join(folder, 'authorities.pem');
    await writeFile(authorities, getCACertificates().join('\n'));
    await run(program, args, { ...env, PGSSLROOTCERT: authorities });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * What libpq reads. The password must not be an argument, since other users can list those. As in
 * our driver, a value in the address's query overrides the same value elsewhere in the address.
 */
function environmentOf(place: DatabasePlace): NodeJS.ProcessEnv {
  const { hostname, port, username, password, searchParams } = new URL(place.url);
  const given = (name: string, inUrl = '') => searchParams.get(name) ?? decodeURIComponent(inUrl);
  const values = {
    // A URL has an IPv6 address in brackets, and libpq takes it without.
    PGHOST: given('host', hostname.replace(/^\[(.+)\]$/, '$1')),
    PGPORT: given('port', port),
    PGUSER: given('user', username),
    PGPASSWORD: given('password', password),
    PGDATABASE: nameOf(place),
    PGSSLMODE: sslModeOf(searchParams),
    PGSSLROOTCERT: given('sslrootcert'),
    PGSSLCERT: given('sslcert'),
    PGSSLKEY: given('sslkey'),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

/** The mode in which libpq does what our driver does with the same address; empty for no TLS. */
function sslModeOf(query: URLSearchParams): string {
  const mode = query.get('sslmode') ?? '';
  if (mode === '') {
    const asksForTls = query.has('sslrootcert') || ['true', '1'].includes(query.get('ssl') ?? '');
    return asksForTls ? 'verify-full' : '';
  }
  if (query.get('uselibpqcompat') === 'true' || mode === 'disable') return mode;
  return mode === 'no-verify' ? 'require' : 'verify-full';
}

async function run(
  program: Program,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (piece) => (complaint = `${complaint}${String(piece)}`.slice(-4096)));
  const reading = eachLine(child.stdout, onLine);
  const ending = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === 'ENOENT'
            ? `${program} is not installed here. Install PostgreSQL's client programs (postgresql-client), of the server's version or newer.`
            : `${program} could not be started (${error.message}).`,
          { cause: error },
        ),
      ),
    );
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  const [end] = await Promise.all([ending, reading]);
  if (end === 0) return;
  throw new Error(errorIn(complaint, program) ?? `${program} ended with ${end}`);
}

/** The line that says why a program failed. Warnings, its own or Perl's, may come before it. */
function errorIn(complaint: string, program: Program): string | undefined {
  const lines = complaint.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => line.startsWith(`${program}: error: `)) ?? lines[0]?.trim();
}

/** Not node:readline: for it, U+2028 in the middle of a row ends a line too. */
async function eachLine(output: Readable, onLine: (line: string) => void): Promise<void> {
  for await (const lines of linesOf(output)) for (const { bytes } of lines) onLine(String(bytes));
}
