import { baseTables, createTable, type Migration } from '../migrations.ts';

/**
 * The tables as they were at first. Never to be changed: what comes later is a version of its own.
 */
export const initial: Migration = (schema) =>
  [
    baseTables(schema),
    createTable(schema, 'settings', {}, []),
    createTable(schema, 'workspaces', { slug: 'text' }, [{ on: ['slug'], unique: true }]),
    createTable(schema, 'members', { workspaceId: 'text', email: 'text' }, [
      { on: ['workspaceId'] },
      { on: ['email'], unique: true },
    ]),
    createTable(schema, 'sessions', { memberId: 'text', kind: 'text', expiresAt: 'text' }, [
      { on: ['memberId'] },
      { on: ['kind'], orderBy: 'expiresAt' },
    ]),
    createTable(schema, 'invites', { workspaceId: 'text' }, [{ on: ['workspaceId'] }]),
    createTable(schema, 'readMarks', { memberId: 'text' }, [{ on: ['memberId'] }]),
    createTable(schema, 'apiKeys', { workspaceId: 'text', hash: 'text' }, [
      { on: ['workspaceId'] },
      { on: ['hash'], unique: true },
    ]),
    createTable(schema, 'channels', { workspaceId: 'text', type: 'text', account: 'text' }, [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'type', 'account'], unique: true },
    ]),
    createTable(
      schema,
      'contacts',
      {
        workspaceId: 'text',
        phone: 'text',
        email: 'text',
        channel: 'text',
        channelAccount: 'text',
        channelUserId: 'text',
      },
      [
        { on: ['workspaceId', 'phone'] },
        { on: ['workspaceId', 'email'] },
        { on: ['workspaceId', 'channel', 'channelAccount', 'phone'], unique: true },
        { on: ['workspaceId', 'channel', 'channelAccount', 'channelUserId'], unique: true },
      ],
    ),
    createTable(schema, 'chatSessions', { createdAt: 'text', contactId: 'text' }, [
      { on: [], orderBy: 'createdAt' },
      { on: ['contactId'] },
    ]),
    createTable(
      schema,
      'conversations',
      {
        workspaceId: 'text',
        status: 'text',
        channel: 'text',
        funnelStage: 'text',
        contactId: 'text',
        updatedAt: 'text',
        takenBy: 'text',
      },
      [
        { on: ['workspaceId'] },
        { on: ['workspaceId', 'status'] },
        { on: ['workspaceId', 'channel'] },
        { on: ['workspaceId', 'funnelStage'] },
        { on: ['contactId'] },
        { on: ['workspaceId'], orderBy: 'updatedAt' },
        { on: ['workspaceId', 'status'], orderBy: 'updatedAt' },
        { on: ['workspaceId', 'takenBy'], orderBy: 'updatedAt' },
      ],
    ),
    createTable(
      schema,
      'messages',
      {
        conversationId: 'text',
        number: 'double precision',
        contactId: 'text',
        channelMessageId: 'text',
      },
      [
        { on: ['conversationId'], orderBy: 'number' },
        { on: ['contactId', 'channelMessageId'], unique: true },
      ],
    ),
    createTable(
      schema,
      'outboundMessages',
      {
        messageId: 'text',
        part: 'double precision',
        contactId: 'text',
        status: 'text',
        workspaceId: 'text',
        channelMessageId: 'text',
      },
      [
        { on: ['messageId'], orderBy: 'part' },
        { on: ['contactId', 'status'] },
        { on: ['workspaceId', 'channelMessageId'], unique: true },
      ],
    ),
    createTable(
      schema,
      'systemNotes',
      { conversationId: 'text', afterMessage: 'double precision' },
      [{ on: ['conversationId'], orderBy: 'afterMessage' }],
    ),
    createTable(schema, 'subscriptions', { workspaceId: 'text', event: 'text' }, [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'event'] },
    ]),
    createTable(schema, 'events', {}, []),
    createTable(schema, 'deliveries', { subscriptionId: 'text', status: 'text', eventId: 'text' }, [
      { on: ['subscriptionId'] },
      { on: ['subscriptionId', 'status'] },
      { on: ['subscriptionId', 'eventId'], unique: true },
    ]),
    createTable(schema, 'tools', { workspaceId: 'text', status: 'text', name: 'text' }, [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'name'], unique: true },
    ]),
    createTable(
      schema,
      'toolCalls',
      {
        workspaceId: 'text',
        status: 'text',
        tool: 'text',
        conversationId: 'text',
        afterMessage: 'double precision',
        isTold: 'boolean',
        toolId: 'text',
        hasLargeResult: 'boolean',
      },
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
    ),
    createTable(
      schema,
      'payments',
      {
        workspaceId: 'text',
        status: 'text',
        conversationId: 'text',
        afterMessage: 'double precision',
        pageTokenHash: 'text',
      },
      [
        { on: ['workspaceId'] },
        { on: ['workspaceId', 'status'] },
        { on: ['conversationId'] },
        { on: ['conversationId', 'status'] },
        { on: ['conversationId'], orderBy: 'afterMessage' },
        { on: ['pageTokenHash'], unique: true },
      ],
    ),
    createTable(schema, 'paymentAccounts', { workspaceId: 'text', provider: 'text' }, [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'provider'], unique: true },
    ]),
    createTable(schema, 'agentSettings', { workspaceId: 'text' }, [{ on: ['workspaceId'] }]),
    createTable(schema, 'agentTurns', {}, []),
    createTable(schema, 'idempotentAnswers', { kind: 'text', expiresAt: 'text' }, [
      { on: ['kind'], orderBy: 'expiresAt' },
    ]),
  ].join('\n');
