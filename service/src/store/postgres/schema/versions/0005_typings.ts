import { createTable, type Migration } from '../migrations.ts';

/** To whom is shown that somebody is typing. */
export const typings: Migration = (schema) => createTable(schema, 'typings', []);
