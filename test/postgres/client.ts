// One connection to a server, for a moment.
import pg from 'pg';

export async function connected<T>(
  url: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // cut while idle; a query says so itself
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Runs a statement. @returns its rows */
export const query = <Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> =>
  connected(url, async (client) => (await client.query<Row>(text, [...values])).rows);
