import { StoreUnavailable, UniqueViolation } from '../store.ts';

/** A document was changed by another transaction after this one had found it: it runs again. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
}

/** All connections are in use, and none came free in time: the database itself may be well. */
export class Busy extends StoreUnavailable {}

/** Who wants the schema alone finds it open in other processes. */
export class SchemaInUse extends Error {
  override readonly name = 'SchemaInUse';
}

/** Another process has the schema to itself, for a while. */
export class SchemaTaken extends Error {
  override readonly name = 'SchemaTaken';
}

/**
 * All documents of the schema were rewritten by another process since this one opened it: it must
 * be started again.
 */
export class SchemaRewritten extends Error {
  override readonly name = 'SchemaRewritten';
}

interface PgError extends Error {
  readonly code?: string;
  readonly table?: string;
  readonly constraint?: string;
}

/** Errors of the system under the driver: the server cannot be reached. */
const SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EADDRNOTAVAIL',
]);
/**
 * Starting or stopping, out of connections, of disk, of memory; a standby that cannot be written
 * to; a password or database that is no longer the one.
 */
const SERVER_CODES: ReadonlySet<string> = new Set([
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '53000',
  '53100',
  '53200',
  '53300',
  '53400',
  '25006',
  '25P03',
  '28000',
  '28P01',
  '3D000',
  '58000',
  '58030',
  'XX000',
]);
/** What the driver says, without a code. */
const LOST =
  /Connection terminated|Client has encountered a connection error|not queryable|server closed the connection/i;
const TIMED_OUT = /timeout exceeded when trying to connect|timeout expired|Query read timeout/i;
/** Ended by an administrator, or by the network. */
const CUT_CODES: ReadonlySet<string> = new Set([
  '57P01',
  '57P02',
  '57P05',
  '08003',
  '08006',
  'ECONNRESET',
  'EPIPE',
]);
const AGAIN_CODES: ReadonlySet<string> = new Set(['40001', '40P01', '40P02']);
/** A lock or a statement was waited for too long; the connection is fine. */
const SLOW_CODES: ReadonlySet<string> = new Set(['55P03', '57014']);

const codeOf = (error: unknown): string => (error as PgError | undefined)?.code ?? '';

/** The server cannot be reached, or not written to: nothing else will work either until it can. */
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

/** The driver knew that the connection was gone: the server has never heard of the statement. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof Error && /not queryable/.test(error.message);

/**
 * One connection was lost. It says nothing yet of others, or of the server: a pool may hold several
 * that were cut, and know of none.
 */
export const isCut = (error: unknown): boolean => {
  const code = codeOf(error);
  return CUT_CODES.has(code) || (code === '' && error instanceof Error && LOST.test(error.message));
};

/** The same transaction may well succeed when it is run again at once. */
export const isToBeRunAgain = (error: unknown): boolean =>
  error instanceof Conflict || AGAIN_CODES.has(codeOf(error));

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505';

export const isTooSlow = (error: unknown): boolean => SLOW_CODES.has(codeOf(error));

/** `contacts_workspace_id_phone` → what the port promises. */
export const uniqueViolation = (error: unknown): UniqueViolation => {
  const { table = 'a collection', constraint = '' } = error as PgError;
  return new UniqueViolation(table, [constraint.replace(`${table}_`, '')]);
};

/** What the driver and the system say of a connection, as an operator would. */
const SAID: readonly (readonly [RegExp, string])[] = [
  [
    /connection timeout|timeout exceeded when trying to connect|timeout expired|Query read timeout|ETIMEDOUT/i,
    'it does not answer in time',
  ],
  [/client password must be a string/, 'it asks for a password, and the address holds none'],
  [
    /Connection terminated|connection error and is not queryable|not queryable|EPIPE|ECONNRESET|server closed the connection/i,
    'the connection was lost',
  ],
];

/** One line, without anything of the address but host, port and database. */
export const inWords = (error: unknown): string => {
  const { message, code } = error as PgError;
  // Several addresses of one name that all refuse: an AggregateError without a message.
  const text =
    message ||
    (error as AggregateError).errors?.map((each: Error) => each.message).join('; ') ||
    String(code ?? error);
  return SAID.find(([pattern]) => pattern.test(text))?.[1] ?? text.split('\n')[0]!;
};

export const unavailable = (reason: string, cause: unknown): StoreUnavailable =>
  Object.assign(new StoreUnavailable(reason), { cause });

export const tookTooLong = (error: unknown): StoreUnavailable =>
  unavailable(`the database took too long: ${inWords(error)}`, error);

/** @param reason as the server or the driver said it */
export const cannotBeReached = (reason: string): string =>
  `the database cannot be reached or written to: ${reason}`;
