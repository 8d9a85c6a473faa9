import { createTable, type Migration } from '../migrations.ts';

/** The questions for whose answers workflows wait. */
export const waits: Migration = (schema) =>
  createTable(
    schema,
    'waits',
    [
      { on: [] },
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'kind'] },
      { on: ['workspaceId', 'kind', 'status'] },
      { on: ['workspaceId', 'resumeUrlHash'] },
      { on: ['conversationId'] },
      { on: ['conversationId'], orderBy: 'afterMessage' },
      { on: ['conversationId', 'status'] },
      { on: ['status', 'kind'] },
    ],
    { afterMessage: 'double precision' },
  );
