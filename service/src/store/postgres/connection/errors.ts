import { StoreUnavailable, UniqueViolation } from '../../store.ts';

/** Another transaction changed a document after this one read it. This transaction runs again. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
}

/** No connection became free in time. The database itself may be fine. */
export class Busy extends StoreUnavailable {}

/** This process wants the schema exclusively, but others have it open. */
export class SchemaInUse extends Error {
  override readonly name = 'SchemaInUse';
}

/** Another process has the schema exclusively now. */
export class SchemaTaken extends Error {
  override readonly name = 'SchemaTaken';
}

/** Another process rewrote all documents since this one opened the schema. Restart this one. */
export class SchemaRewritten extends Error {
  override readonly name = 'SchemaRewritten';
}

interface PgError extends Error {
  readonly code?: string;
  readonly table?: string;
  readonly constraint?: string;
}

const setOf = (codes: string): ReadonlySet<string> => new Set(codes.split(' '));

/** The operating system cannot reach the server. */
const SYSTEM_CODES = setOf(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ENOENT EADDRNOTAVAIL',
);
/**
 * The server is starting or stopping (57), is out of connections, disk or memory (53), is read-only
 * (25006), has ended an idle session (25P03, 57P05), refuses the login (28), does not have the
 * database (3D), or has failed (58, XX).
 */
const SERVER_CODES = setOf(
  '57P01 57P02 57P03 57P04 57P05 53000 53100 53200 53300 53400 25006 25P03 28000 28P01 3D000 58000 58030 XX000',
);
/** Messages of the driver, without a code. */
const LOST =
  /Connection terminated|Client has encountered a connection error|not queryable|server closed the connection/i;
const TIMED_OUT = /timeout exceeded when trying to connect|timeout expired|Query read timeout/i;
/** An administrator or the network ended the connection. */
const CUT_CODES = setOf('57P01 57P02 57P05 08003 08006 ECONNRESET EPIPE');
const REPEAT_CODES = setOf('40001 40P01 40P02');
/** A lock or a statement took too long. The connection is fine. */
const SLOW_CODES = setOf('55P03 57014');

const codeOf = (error: unknown): string => (error as PgError | undefined)?.code ?? '';

/** The server cannot be reached or written to, so nothing else will work either. */
export const isOutage = (error: unknown): boolean => {
  if (error instanceof SchemaTaken || error instanceof SchemaRewritten) return true;
  const code = codeOf(error);
  return (
    code.startsWith('08') ||
    SYSTEM_CODES.has(code) ||
    SERVER_CODES.has(code) ||
    (code === '' &&
      error instanceof Error &&
      (LOST.test(error.message) || TIMED_OUT.test(error.message)))
  );
};

/** The driver knew that the connection was gone, so the server never got the statement. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof Error && /not queryable/.test(error.message);

/** One connection was lost. Other connections, and the server, may be fine. */
export const isCut = (error: unknown): boolean => {
  const code = codeOf(error);
  return CUT_CODES.has(code) || (code === '' && error instanceof Error && LOST.test(error.message));
};

/** The same transaction may succeed when it runs again at once. */
export const isWorthRepeating = (error: unknown): boolean =>
  error instanceof Conflict || REPEAT_CODES.has(codeOf(error));

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505';

export const isTooSlow = (error: unknown): boolean => SLOW_CODES.has(codeOf(error));

/** The port's error for a constraint such as `contacts_workspace_id_phone`. */
export const uniqueViolation = (error: unknown): UniqueViolation => {
  const { table = 'a collection', constraint = '' } = error as PgError;
  return new UniqueViolation(table, [constraint.replace(`${table}_`, '')]);
};

/** Messages of the driver and the system in plain words. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /connection timeout|timeout exceeded when trying to connect|timeout expired|Query read timeout|ETIMEDOUT/i,
    'it does not answer in time',
  ],
  [/client password must be a string/, 'it asks for a password, and the address holds none'],
  [
    /Connection terminated|not queryable|EPIPE|ECONNRESET|server closed the connection/i,
    'the connection was lost',
  ],
];

/** The error in one line. Never holds the password of the address. */
export const inWords = (error: unknown): string => {
  const { message, code } = error as PgError;
  // When all addresses of a host refuse, the error is an AggregateError without a message.
  const text =
    message ||
    (error as AggregateError).errors?.map((each: Error) => each.message).join('; ') ||
    String(code ?? error);
  return PLAIN_WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? text.split('\n')[0]!;
};

export const unavailable = (reason: string, cause: unknown): StoreUnavailable =>
  Object.assign(new StoreUnavailable(reason), { cause });

export const tookTooLong = (error: unknown): StoreUnavailable =>
  unavailable(`the database took too long: ${inWords(error)}`, error);

/** @param reason in the words of the server or the driver */
export const unreachableMessage = (reason: string): string =>
  `the database cannot be reached or written to: ${reason}`;
