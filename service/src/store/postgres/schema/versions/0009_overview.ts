import { createTable, type Migration } from '../migrations.ts';

/** What transactions count, and the sums by hour and day. */
export const overview: Migration = (schema) =>
  [
    createTable(schema, 'increments', [{ on: [] }, { on: ['workspaceId'] }]),
    createTable(schema, 'counters', [
      { on: ['workspaceId', 'period'], orderBy: 'start' },
      { on: ['period'], orderBy: 'start' },
    ]),
  ].join('\n');
