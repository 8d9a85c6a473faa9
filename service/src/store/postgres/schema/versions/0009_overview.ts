import { createTable, type Migration } from '../migrations.ts';

/** What happened, counted: what transactions add, and the sums of hours and days. */
export const overview: Migration = (schema) =>
  [
    createTable(schema, 'increments', [{ on: [] }, { on: ['workspaceId'] }]),
    createTable(schema, 'counters', [
      { on: ['workspaceId', 'period'], orderBy: 'start' },
      { on: ['period'], orderBy: 'start' },
    ]),
  ].join('\n');
