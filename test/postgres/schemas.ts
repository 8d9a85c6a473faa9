import pg from 'pg';

/** Removes what a store made: its tables' schema and its queues'. */
export async function dropSchema(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const name of [schema, `${schema}_work`]) await client.query(`DROP SCHEMA IF EXISTS ${client.escapeIdentifier(name)} CASCADE`);
  } finally {
    await client.end();
  }
}
