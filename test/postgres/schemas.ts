// Schemas that tests make for themselves.
import pg from 'pg';
import { connected, query } from './client.ts';

/** What the names of tests' schemas begin with. */
export const TEST_SCHEMA = 'test_';

/** Removes what a store made. */
export const dropSchema = async (url: string, schema: string): Promise<void> =>
  void (await query(url, `DROP SCHEMA IF EXISTS ${pg.escapeIdentifier(schema)} CASCADE`));

/** Every value of every table that a store made, as the server writes it. */
export const readSchema = (url: string, schema: string): Promise<string[]> =>
  connected(url, async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE'`,
      [schema],
    );
    const values: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<(string | null)[]>({
        text: `SELECT * FROM ${name}`,
        rowMode: 'array',
        types: { getTypeParser: () => (text: string) => text },
      });
      values.push(...rows.flat().filter((value) => value !== null));
    }
    return values;
  });

/** Ends the leases of all claimed jobs. */
export const expireLeases = async (url: string, schema: string): Promise<void> =>
  void (await query(
    url,
    `UPDATE ${pg.escapeIdentifier(schema)}.jobs SET due_at = extract(epoch FROM clock_timestamp()) * 1000 WHERE claimed_by IS NOT NULL`,
  ));

/** What was left by tests that failed, or were killed. */
export const keptSchemas = async (url: string): Promise<string[]> =>
  (
    await query<{ name: string }>(
      url,
      'SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1) ORDER BY 1',
      [TEST_SCHEMA],
    )
  ).map(({ name }) => name);
