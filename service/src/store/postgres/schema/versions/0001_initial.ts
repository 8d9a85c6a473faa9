import { baseTables, createTable, type Migration } from '../migrations.ts';

/** The first tables. Never to be changed: later changes are migrations of their own. */
export const initial: Migration = (schema) =>
  [
    baseTables(schema),
    createTable(schema, 'settings', []),
    createTable(schema, 'workspaces', [{ on: ['slug'], unique: true }]),
    createTable(schema, 'members', [{ on: ['workspaceId'] }, { on: ['email'], unique: true }]),
    createTable(schema, 'sessions', [{ on: ['memberId'] }, { on: ['kind'], orderBy: 'expiresAt' }]),
    createTable(schema, 'invites', [{ on: ['workspaceId'] }]),
    createTable(schema, 'readMarks', [{ on: ['memberId'] }]),
    createTable(schema, 'apiKeys', [{ on: ['workspaceId'] }, { on: ['hash'], unique: true }]),
    createTable(schema, 'channels', [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'type', 'account'], unique: true },
    ]),
    createTable(schema, 'contacts', [
      { on: ['workspaceId', 'phone'] },
      { on: ['workspaceId', 'email'] },
      { on: ['workspaceId', 'channel', 'channelAccount', 'phone'], unique: true },
      { on: ['workspaceId', 'channel', 'channelAccount', 'channelUserId'], unique: true },
    ]),
    createTable(schema, 'chatSessions', [{ on: [], orderBy: 'createdAt' }, { on: ['contactId'] }]),
    createTable(schema, 'conversations', [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'channel'] },
      { on: ['workspaceId', 'funnelStage'] },
      { on: ['contactId'] },
      { on: ['workspaceId'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'status'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'takenBy'], orderBy: 'updatedAt' },
    ]),
    createTable(
      schema,
      'messages',
      [
        { on: ['conversationId'], orderBy: 'number' },
        { on: ['contactId', 'channelMessageId'], unique: true },
      ],
      { number: 'double precision' },
    ),
    createTable(
      schema,
      'outboundMessages',
      [
        { on: ['messageId'], orderBy: 'part' },
        { on: ['contactId', 'status'] },
        { on: ['workspaceId', 'channelMessageId'], unique: true },
      ],
      { part: 'double precision' },
    ),
    createTable(schema, 'systemNotes', [{ on: ['conversationId'], orderBy: 'afterMessage' }], {
      afterMessage: 'double precision',
    }),
    createTable(schema, 'subscriptions', [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'event'] },
    ]),
    createTable(schema, 'events', []),
    createTable(schema, 'deliveries', [
      { on: ['subscriptionId'] },
      { on: ['subscriptionId', 'status'] },
      { on: ['subscriptionId', 'eventId'], unique: true },
    ]),
    createTable(schema, 'tools', [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'name'], unique: true },
    ]),
    createTable(
      schema,
      'toolCalls',
      [
        { on: ['workspaceId'] },
        { on: ['workspaceId', 'status'] },
        { on: ['workspaceId', 'tool'] },
        { on: ['conversationId'] },
        { on: ['conversationId'], orderBy: 'afterMessage' },
        { on: ['conversationId', 'status'] },
        { on: ['conversationId', 'isTold'] },
        { on: ['toolId'] },
        { on: ['toolId', 'status'] },
        { on: ['hasLargeResult'] },
      ],
      { afterMessage: 'double precision', isTold: 'boolean', hasLargeResult: 'boolean' },
    ),
    createTable(
      schema,
      'payments',
      [
        { on: ['workspaceId'] },
        { on: ['workspaceId', 'status'] },
        { on: ['conversationId'] },
        { on: ['conversationId', 'status'] },
        { on: ['conversationId'], orderBy: 'afterMessage' },
        { on: ['pageTokenHash'], unique: true },
      ],
      { afterMessage: 'double precision' },
    ),
    createTable(schema, 'paymentAccounts', [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'provider'], unique: true },
    ]),
    createTable(schema, 'agentSettings', [{ on: ['workspaceId'] }]),
    createTable(schema, 'agentTurns', []),
    createTable(schema, 'idempotentAnswers', [{ on: ['kind'], orderBy: 'expiresAt' }]),
  ].join('\n');
