import type { Document } from '../store/store.ts';

export type SenderType = 'customer' | 'agent' | 'team_member' | 'api';

export interface Sender {
  readonly type: SenderType;
  readonly name: string;
}

/** One message of a conversation; never changed once stored. */
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
  readonly createdAt: string;
}

/** The longest text that a message can hold, in characters (WhatsApp's limit too). */
export const MESSAGE_TEXT_MAX = 4096;
