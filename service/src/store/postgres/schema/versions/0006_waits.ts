import { createTable, type Migration } from '../migrations.ts';

/** Waits: a workflow waits until the customer or the team answers its question. */
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
