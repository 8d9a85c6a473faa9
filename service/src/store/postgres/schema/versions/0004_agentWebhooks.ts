import { createTable, type Migration } from '../migrations.ts';

/** A workflow as the agent: its webhook, the test webhook of an open editor, and its turns. */
export const agentWebhooks: Migration = (schema) =>
  [
    createTable(schema, 'agentWebhooks', []),
    createTable(schema, 'agentTestWebhooks', []),
    createTable(
      schema,
      'webhookTurns',
      [
        { on: ['status'] },
        { on: ['workspaceId'] },
        { on: ['workspaceId', 'status'] },
        { on: ['workspaceId', 'isTest'] },
        { on: ['conversationId'] },
        { on: ['conversationId', 'status'] },
      ],
      { isTest: 'boolean' },
    ),
  ].join('\n');
