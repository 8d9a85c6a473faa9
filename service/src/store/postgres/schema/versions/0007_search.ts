import { quoted } from '../../connection/sql.ts';
import { addWords, type Migration } from '../migrations.ts';

/** Messages and contacts are searched by words; conversations are filtered by channel and stage. */
export const search: Migration = (schema) => {
  const conversations = `${quoted(schema)}.conversations`;
  return `
${addWords(schema, 'messages')}
${addWords(schema, 'contacts')}
CREATE INDEX conversations_workspace_id_channel_by_updated_at ON ${conversations} (workspace_id, channel, updated_at NULLS FIRST, id);
CREATE INDEX conversations_workspace_id_funnel_stage_by_updated_at ON ${conversations} (workspace_id, funnel_stage, updated_at NULLS FIRST, id);`;
};
