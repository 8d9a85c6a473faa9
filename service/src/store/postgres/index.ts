import { silent } from '../clockAndLog.ts';
import type { Schema } from '../store.ts';
import { inWords } from './connection/errors.ts';
import { DEFAULT_CONNECTIONS, type PostgresOptions, PostgresStore } from './postgresStore.ts';
import { PgDatabase } from './connection/pgDatabase.ts';
import { schemaExists } from './schema/migrations.ts';

export { serviceMigrations } from './schema/versions/index.ts';
export type { Connection, Database, Result } from './connection/database.ts';
export {
  addWords,
  baseTables,
  createTable,
  generationTable,
  selectiveFields,
  sharedGroups,
  type Migrations,
} from './schema/migrations.ts';
export type { PostgresOptions, PostgresStore } from './postgresStore.ts';

/**
 * Opens the store in a schema of a PostgreSQL database, which several processes may have open at
 * once. Creates and migrates its tables as needed.
 * @throws Error in one line, without the password, when the database cannot be reached or used
 */
export const openPostgresStore = async <S extends Schema>(
  schema: S,
  options: PostgresOptions,
): Promise<PostgresStore<S>> => {
  const { database: given, connections = DEFAULT_CONNECTIONS, log = silent } = options;
  const database =
    typeof given === 'string' ? new PgDatabase({ url: given, connections, log }) : given;
  try {
    return await PostgresStore.open(schema, database, options);
  } catch (error) {
    await database.close().catch(() => {});
    throw typeof given === 'string'
      ? new Error(
          `The database at ${placeOf(given)} cannot be used: ${inWords(error)}${whatToDo(error, options.schema)}`,
          { cause: error },
        )
      : error;
  }
};

/**
 * Whether a database has the schema, be it ours or another program's.
 * @throws Error of the driver when the database cannot be reached
 */
export async function hasSchema({
  url,
  schema,
}: {
  url: string;
  schema: string;
}): Promise<boolean> {
  const database = new PgDatabase({ url, connections: 1, log: silent });
  try {
    return await schemaExists(database, schema);
  } finally {
    await database.close();
  }
}

const UNKNOWN_AUTHORITY =
  "Name the file of the authority that signed the server's certificate: sslrootcert=/path/to/ca.pem in DATABASE_URL.";
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Is PostgreSQL running there, and are host and port of DATABASE_URL right?',
  ENOTFOUND: 'Check the host in DATABASE_URL.',
  EAI_AGAIN: 'Check the host in DATABASE_URL.',
  '28P01': 'Check user and password in DATABASE_URL.',
  '28000': 'Check user and password in DATABASE_URL.',
  '3D000': 'Create it, or name another one in DATABASE_URL.',
  '25006': 'It may be a standby: name the primary in DATABASE_URL.',
  '53300': "Raise the server's max_connections, or set DATABASE_CONNECTIONS lower.",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID:
    "The host in DATABASE_URL must be one that the server's certificate names.",
};

/** For errors whose text says more than their code. */
const ADVICE_BY_TEXT: readonly (readonly [RegExp, string])[] = [
  [/client password must be a string/, 'Put it into DATABASE_URL.'],
  [
    /no pg_hba\.conf entry.*no encryption/,
    'It may want TLS: add ?sslmode=verify-full to DATABASE_URL. If not, add this machine to its pg_hba.conf.',
  ],
  [
    /no pg_hba\.conf entry/,
    'Its pg_hba.conf must let this machine in with user and database of DATABASE_URL.',
  ],
];

/** A sentence for each error that an operator can fix. */
function whatToDo(error: unknown, schema: string): string {
  const { code = '', message } = error as Error & { code?: string };
  const advice =
    code === '42501'
      ? `Its user needs the right to make the schema ${schema} (GRANT CREATE ON DATABASE), or to own it.`
      : (ADVICE_BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? ADVICE[code]);
  return advice === undefined ? '' : `. ${advice}`;
}

/** Host, port and database of an address; nothing that could be a password. */
function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  // The driver prefers those of the query; a host may be the folder of a socket.
  const host = searchParams.get('host') || hostname || 'localhost';
  return `${host}:${searchParams.get('port') || port || '5432'}${pathname}`;
}
