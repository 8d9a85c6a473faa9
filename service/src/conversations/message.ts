import type { Document } from '../store/store.ts';

export type SenderType = 'customer' | 'agent' | 'team_member' | 'api';

export interface Sender {
  readonly type: SenderType;
  readonly name: string;
}

/** The delivery of one of our messages. `sent`: the channel has accepted it. */
export const DELIVERY_STATES = ['pending', 'sent', 'delivered', 'read', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One message of a conversation. Once stored, only `delivery` changes. */
export interface Message extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly contactId: string;
  /** Position in the conversation, from 1, without gaps. */
  readonly number: number;
  readonly direction: 'inbound' | 'outbound';
  readonly sender: Sender;
  readonly text: string;
  /** The channel's own id. The same id means the same message. */
  readonly channelMessageId: string | null;
  /** Null for the customer's messages, and in a channel that the service hosts. */
  readonly delivery?: {
    readonly state: DeliveryState;
    /** Why it failed, in words. */
    readonly error: string | null;
  } | null;
  /** Sent by an automation beside the agent. It answers nothing that the customer wrote. */
  readonly isBesideAgent?: boolean;
  readonly createdAt: string;
}

/** The newest message that is part of the talk; null when there is none. @param newest newest first */
export const lastOfTalk = (newest: readonly Message[]): Message | null =>
  newest.find(({ isBesideAgent }) => isBesideAgent !== true) ?? null;

/** The longest message of a customer or the agent, in characters. */
export const MAX_MESSAGE_CHARACTERS = 4096;

/** The longest message of the team or an automation. A channel that accepts less gets it in parts. */
export const MAX_REPLY_CHARACTERS = 16_384;
