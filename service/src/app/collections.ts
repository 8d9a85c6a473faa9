import { collection, type Document, type Store, type Transaction } from '../store/store.ts';
import type { AgentSettings, AgentTurn } from '../agent/agentSettings.ts';
import type { ApiKey, Invite, Session, Member, Workspace } from '../team/workspace.ts';
import type { Channel } from '../channels/channel.ts';
import type { ChatSession, Contact } from '../conversations/contact.ts';
import type { Conversation } from '../conversations/conversation.ts';
import type { Delivery, Event } from '../deliveries/delivery.ts';
import type { Message } from '../conversations/message.ts';
import type { Payment, PaymentAccount } from '../payments/payment.ts';
import type { OutboundMessage } from '../channels/outboundMessage.ts';
import type { ReadMark } from '../inbox/inbox.ts';
import type { Subscription } from '../deliveries/subscription.ts';
import type { SystemNote } from '../conversations/systemNote.ts';
import type { Tool } from '../tools/definition/tool.ts';
import type { ToolCall } from '../tools/calls/toolCall.ts';

/**
 * The first answer to a write that carried an Idempotency-Key. Id: hash of workspace, method, path
 * and key.
 */
export interface IdempotentAnswer extends Document {
  readonly requestHash: string;
  readonly status: number;
  /** Sealed, since it may hold secrets such as the URL of a payment link. */
  readonly sealedBody: string;
  readonly kind: 'idempotent_answer';
  /** Left out: nobody's, or by an earlier version. */
  readonly workspaceId?: string;
  readonly expiresAt: string;
}

/**
 * What the service keeps about itself: the encryption key's fingerprint, and how far everything is
 * sealed.
 */
export interface Setting extends Document {
  readonly value: string;
  /** What is sealed; see encryption/sealEarlierDocument.ts. Left out: 1. */
  readonly sealingVersion?: number;
  /** Everything was sealed anew, and what it was before has still to be removed from the disk. */
  readonly hasHistory?: boolean;
}

/** Every collection, with its indexes. */
export const collections = {
  settings: collection<Setting>({ indexes: [] }),
  workspaces: collection<Workspace>({ indexes: [{ on: [] }, { on: ['slug'], unique: true }] }),
  members: collection<Member>({
    indexes: [{ on: ['workspaceId'] }, { on: ['email'], unique: true }],
  }),
  sessions: collection<Session>({
    indexes: [{ on: ['memberId'] }, { on: ['kind'], orderBy: 'expiresAt' }],
  }),
  invites: collection<Invite>({ indexes: [{ on: ['workspaceId'] }] }),
  readMarks: collection<ReadMark>({ indexes: [{ on: ['memberId'] }] }),
  apiKeys: collection<ApiKey>({
    indexes: [{ on: ['workspaceId'] }, { on: ['hash'], unique: true }],
  }),
  channels: collection<Channel>({
    indexes: [{ on: ['workspaceId'] }, { on: ['workspaceId', 'type', 'account'], unique: true }],
  }),
  contacts: collection<Contact>({
    indexes: [
      { on: ['workspaceId', 'phone'] },
      { on: ['workspaceId', 'email'] },
      { on: ['workspaceId', 'channel', 'channelAccount', 'phone'], unique: true },
      { on: ['workspaceId', 'channel', 'channelAccount', 'channelUserId'], unique: true },
    ],
  }),
  chatSessions: collection<ChatSession>({
    indexes: [{ on: [], orderBy: 'createdAt' }, { on: ['contactId'] }],
  }),
  conversations: collection<Conversation>({
    indexes: [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'channel'] },
      { on: ['workspaceId', 'funnelStage'] },
      { on: ['contactId'] },
      { on: ['workspaceId'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'status'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'takenBy'], orderBy: 'updatedAt' },
    ],
  }),
  messages: collection<Message>({
    indexes: [
      { on: ['conversationId'], orderBy: 'number' },
      { on: ['contactId', 'channelMessageId'], unique: true },
    ],
  }),
  outboundMessages: collection<OutboundMessage>({
    indexes: [
      { on: [] },
      { on: ['messageId'], orderBy: 'part' },
      { on: ['contactId', 'status'] },
      { on: ['workspaceId', 'channelMessageId'], unique: true },
    ],
  }),
  systemNotes: collection<SystemNote>({
    indexes: [{ on: ['conversationId'], orderBy: 'afterMessage' }],
  }),
  subscriptions: collection<Subscription>({
    indexes: [{ on: ['workspaceId'] }, { on: ['workspaceId', 'event'] }],
  }),
  events: collection<Event>({ indexes: [{ on: [] }] }),
  deliveries: collection<Delivery>({
    indexes: [
      { on: [] },
      { on: ['subscriptionId'] },
      { on: ['subscriptionId', 'status'] },
      { on: ['subscriptionId', 'eventId'], unique: true },
    ],
  }),
  tools: collection<Tool>({
    indexes: [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'name'], unique: true },
    ],
  }),
  toolCalls: collection<ToolCall>({
    indexes: [
      { on: [] },
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
  }),
  payments: collection<Payment>({
    indexes: [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['conversationId'] },
      { on: ['conversationId', 'status'] },
      { on: ['conversationId'], orderBy: 'afterMessage' },
      { on: ['pageTokenHash'], unique: true },
    ],
  }),
  paymentAccounts: collection<PaymentAccount>({
    indexes: [{ on: ['workspaceId'] }, { on: ['workspaceId', 'provider'], unique: true }],
  }),
  agentSettings: collection<AgentSettings>({ indexes: [{ on: ['workspaceId'] }] }),
  agentTurns: collection<AgentTurn>({ indexes: [] }),
  idempotentAnswers: collection<IdempotentAnswer>({
    indexes: [{ on: ['kind'], orderBy: 'expiresAt' }],
  }),
};

/** The workspace that a document belongs to. It counts towards that workspace's share of memory. */
export const workspaceOf = (collection: string, document: Document): string | null =>
  collection === 'workspaces'
    ? document.id
    : ((document as { workspaceId?: string }).workspaceId ?? null);

export type ServiceStore = Store<typeof collections>;
export type Tx = Transaction<typeof collections>;
