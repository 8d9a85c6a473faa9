import { runOn, type Database } from './database.ts';

const OLDEST = 14;

/**
 * @throws Error in words when the server is older than what the store is tried on; its first
 * migration would fail without saying why
 */
export async function refuseOldServer(database: Database): Promise<void> {
  const { rows } = await runOn(database, {
    text: `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name`,
  });
  const { number, name } = rows[0]!;
  if (Math.floor(Number(number) / 10_000) < OLDEST)
    throw new Error(`it is PostgreSQL ${String(name)}; ${OLDEST} or newer is needed`);
}
