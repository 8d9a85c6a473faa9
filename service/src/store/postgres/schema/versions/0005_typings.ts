import { createTable, type Migration } from '../migrations.ts';

/** Customers who are shown that somebody is typing. */
export const typings: Migration = (schema) => createTable(schema, 'typings', []);
