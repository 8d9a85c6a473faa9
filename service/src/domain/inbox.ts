import type { Conversation } from './conversation.ts';

/** The tabs of the team's list of conversations, and how a place in it is written. */
export const INBOX_TABS = ['all', 'agent', 'waiting', 'mine', 'closed', 'approvals'] as const;
export type InboxTab = (typeof INBOX_TABS)[number];

/** Which conversations a tab holds; `approvals` is found by its tool calls instead. */
export function filterOfTab(
  tab: Exclude<InboxTab, 'approvals'>,
  memberId: string,
): Partial<Pick<Conversation, 'status' | 'takenBy'>> {
  switch (tab) {
    case 'all':
      return {};
    case 'agent':
      return { status: 'ai_active' };
    case 'waiting':
      return { status: 'awaiting_human' };
    case 'mine':
      return { status: 'human_active', takenBy: memberId };
    case 'closed':
      return { status: 'closed' };
  }
}

/** A place in a list that is ordered by `updatedAt`. */
export interface InboxPosition {
  readonly value: string;
  readonly id: string;
}

export const positionOf = ({ updatedAt, id }: Conversation): InboxPosition => ({
  value: updatedAt,
  id,
});

/** As it stands in an address. */
export const writePosition = ({ value, id }: InboxPosition): string => `${Date.parse(value)}_${id}`;

/** Null for what we never wrote: the list then begins at its beginning. */
export function readPosition(text: string): InboxPosition | null {
  const [, ms, id] = /^(\d{1,15})_(conv_[0-9A-Z]{26})$/.exec(text) ?? [];
  if (ms === undefined || id === undefined) return null;
  return { value: new Date(Number(ms)).toISOString().replace('Z', '+00:00'), id };
}

/**
 * What a member has not read of a conversation: the customer's messages. Of a closed one nothing
 * waits to be read.
 */
export const unreadOf = ({ status, customerMessageCount }: Conversation, seen: number): number =>
  status === 'closed' ? 0 : Math.max(0, customerMessageCount - seen);

export const readMarkId = (memberId: string, conversationId: string): string =>
  `${memberId}:${conversationId}`;
