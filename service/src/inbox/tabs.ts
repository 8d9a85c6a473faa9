import type { Conversation, InboxPosition } from '../conversations/index.ts';

/** The tabs of the team's list of conversations. */
export const INBOX_TABS = ['all', 'agent', 'waiting', 'mine', 'closed', 'approvals'] as const;
export type InboxTab = (typeof INBOX_TABS)[number];

/** The filter of a tab. `approvals` has none, since it lists conversations by their tool calls. */
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

/** Writes a position for a URL. */
export const writePosition = ({ value, id }: InboxPosition): string => `${Date.parse(value)}_${id}`;

/** Reads a position from a URL. Null when it is not one, and the list starts at its beginning. */
export function readPosition(text: string): InboxPosition | null {
  const [, ms, id] = /^(\d{1,15})_(conv_[0-9A-Z]{26})$/.exec(text) ?? [];
  if (ms === undefined || id === undefined) return null;
  return { value: new Date(Number(ms)).toISOString().replace('Z', '+00:00'), id };
}
