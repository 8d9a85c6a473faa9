import type { Document } from '../store/store.ts';

export type SenderType = 'customer' | 'agent' | 'team_member' | 'api';

export interface Sender {
  readonly type: SenderType;
  readonly name: string;
}

/** How far a message of ours has come: `sent` the channel has taken it. */
export const DELIVERY_STATES = ['pending', 'sent', 'delivered', 'read', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One message of a conversation; of a stored one, only how far it has come changes. */
export interface Message extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly contactId: string;
  /** Position in the conversation, from 1, without gaps. */
  readonly number: number;
  readonly direction: 'inbound' | 'outbound';
  readonly sender: Sender;
  readonly text: string;
  /** The channel's own id: the same one is the same message. */
  readonly channelMessageId: string | null;
  /**
   * Of a message that a channel's adapter sends; null where a stored message is in the channel, and
   * for the customer's.
   */
  readonly delivery?: {
    readonly state: DeliveryState;
    /** Why it failed, in words. */ readonly error: string | null;
  } | null;
  readonly createdAt: string;
}

/**
 * The longest text that a customer writes at once, and that the agent replies with, in characters.
 */
export const MAX_MESSAGE_CHARACTERS = 4096;

/**
 * The longest text that the team or an automation can write at once; a channel that takes less gets
 * it in pieces.
 */
export const MAX_REPLY_CHARACTERS = 16_384;
