import { quoted } from '../../connection/sql.ts';
import { createTable, type Migration } from '../migrations.ts';

/** Contacts and conversations are listed by time. Who reveals contact details is recorded. */
export const contacts: Migration = (schema) => {
  const s = quoted(schema);
  return `
CREATE INDEX contacts_workspace_id ON ${s}.contacts (workspace_id, id);
ALTER TABLE ${s}.conversations ADD COLUMN created_at text COLLATE "C";
ALTER TABLE ${s}.conversations DISABLE TRIGGER changes;
UPDATE ${s}.conversations SET created_at = document->>'createdAt';
ALTER TABLE ${s}.conversations ENABLE TRIGGER changes;
CREATE INDEX conversations_workspace_id_by_created_at ON ${s}.conversations (workspace_id, created_at NULLS FIRST, id);
${createTable(schema, 'contactReveals', [{ on: ['contactId'] }, { on: ['apiKeyId'] }])}`;
};
