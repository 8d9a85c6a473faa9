// What the store asks of a server before it changes anything, and how a failed start ends.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type {
  Connection,
  Result,
  Statement,
} from '../../../service/src/store/postgres/connection/database.ts';
import { query } from '../client.ts';
import { freshSchema, openStore, removeSchema } from './contractStores.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

/** The real server, but for one answer. */
class OtherAnswer extends WrappedDatabase {
  readonly #answer: (statement: Statement) => Result | null;

  constructor(answer: (statement: Statement) => Result | null) {
    super(2);
    this.#answer = answer;
  }

  protected wrap(connection: Connection): Connection['query'] {
    return async (statement) => this.#answer(statement) ?? connection.query(statement);
  }
}

describe('a start of the store', () => {
  let schema: string;
  beforeEach(() => void (schema = freshSchema()));
  afterEach(() => removeSchema(schema));
  const open = (database: WrappedDatabase) => openStore(schema, { database });

  it('says which version an old server is, and changes nothing there', async () => {
    const old = new OtherAnswer(({ text }) =>
      text.includes('server_version_num')
        ? {
            rows: [{ number: 130_014, name: '13.14 (Debian 13.14-1)' }],
            rowCount: 1,
            command: 'SELECT',
          }
        : null,
    );
    await expect(open(old)).rejects.toThrow(
      'it is PostgreSQL 13.14 (Debian 13.14-1); 14 or newer is needed',
    );
    const named = 'SELECT FROM pg_namespace WHERE nspname = $1';
    expect(await query(process.env.DATABASE_URL!, named, [schema])).toEqual([]);
  });

  it('gives its connections back when it is cut off before its tables are looked at', async () => {
    const cut = new OtherAnswer(({ text }) => {
      if (text.startsWith('SET LOCAL lock_timeout'))
        throw new Error('Connection terminated unexpectedly');
      return null;
    });
    // It rejects only after it has closed the database, which waits for every connection.
    await expect(open(cut)).rejects.toThrow('Connection terminated unexpectedly');
  });
});
