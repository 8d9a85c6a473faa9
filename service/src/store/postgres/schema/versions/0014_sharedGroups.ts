import { quoted } from '../../connection/sql.ts';
import { sharedGroups as tables, type Migration } from '../migrations.ts';

/** Processes share groups without the queues of pg-boss, which had a schema of their own. */
export const sharedGroups: Migration = (schema) => `
DROP SCHEMA IF EXISTS ${quoted(`${schema}_work`)} CASCADE;
${tables(schema)}`;
