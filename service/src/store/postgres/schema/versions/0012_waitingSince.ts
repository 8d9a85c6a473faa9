import { quoted } from '../../connection/sql.ts';
import type { Migration } from '../migrations.ts';

/** What waits for a person is listed by how long it waits. */
export const waitingSince: Migration = (schema) => {
  const table = `${quoted(schema)}.conversations`;
  return `
ALTER TABLE ${table} ADD COLUMN waiting_since text COLLATE "C";
CREATE INDEX conversations_workspace_id_status_by_waiting_since ON ${table} (workspace_id, status, waiting_since NULLS FIRST, id);`;
};
