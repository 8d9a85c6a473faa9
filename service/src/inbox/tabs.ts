import type { Conversation } from '../conversations/index.ts';

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
