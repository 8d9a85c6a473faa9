import { quoted } from '../../connection/sql.ts';
import { sharedGroups as indexAndFunction, type Migration } from '../migrations.ts';

/** Lets processes share groups of jobs without pg-boss, whose queues had a schema of their own. */
export const sharedGroups: Migration = (schema) => `
DROP SCHEMA IF EXISTS ${quoted(`${schema}_work`)} CASCADE;
${indexAndFunction(schema)}`;
