import { quoted } from '../../connection/sql.ts';
import { createTable, type Migration } from '../migrations.ts';

/** Assignees, canned replies, and which conversations members have open. */
export const teamwork: Migration = (schema) => {
  const s = quoted(schema);
  return `
ALTER TABLE ${s}.conversations ADD COLUMN assignee_id text COLLATE "C";
CREATE INDEX conversations_workspace_id_assignee_id_by_updated_at ON ${s}.conversations (workspace_id, assignee_id, updated_at NULLS FIRST, id);
${createTable(schema, 'cannedReplies', [
  { on: ['workspaceId'] },
  { on: ['workspaceId', 'shortcut'], unique: true },
])}
${createTable(schema, 'presences', [
  { on: ['conversationId'] },
  { on: ['memberId'] },
  { on: ['kind'], orderBy: 'expiresAt' },
])}`;
};
