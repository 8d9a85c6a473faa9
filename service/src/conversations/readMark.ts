import type { Document } from '../store/store.ts';
import type { Conversation } from './conversation.ts';

/** How far a member has read a conversation. Id: member and conversation. */
export interface ReadMark extends Document {
  readonly memberId: string;
  /** The customer's messages seen so far. */
  readonly customerMessages: number;
}

/** How many of the customer's messages a member has not read. In a closed conversation, none. */
export const unreadOf = ({ status, customerMessageCount }: Conversation, seen: number): number =>
  status === 'closed' ? 0 : Math.max(0, customerMessageCount - seen);

export const idOfReadMark = (memberId: string, conversationId: string): string =>
  `${memberId}:${conversationId}`;
