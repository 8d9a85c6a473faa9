import { quoted } from '../../connection/sql.ts';
import type { Migration } from '../migrations.ts';

/**
 * Takes the status out of the index: it then finds conversations of every status in the order in
 * which their customers began to wait.
 */
export const waitingOfAll: Migration = (schema) => {
  const table = `${quoted(schema)}.conversations`;
  return `
DROP INDEX ${quoted(schema)}.conversations_workspace_id_status_by_waiting_since;
CREATE INDEX conversations_workspace_id_by_waiting_since ON ${table} (workspace_id, waiting_since NULLS FIRST, id);`;
};
