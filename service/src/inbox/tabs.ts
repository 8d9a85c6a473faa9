import { type Conversation, positionOf } from '../conversations/index.ts';
import type { Position } from '../platform/http/searchPage.ts';

/** The tabs of the team's list of conversations. */
export const INBOX_TABS = ['all', 'agent', 'waiting', 'mine', 'closed', 'approvals'] as const;
export type InboxTab = (typeof INBOX_TABS)[number];

/** A tab that lists conversations by their fields. `approvals` finds them by their tool calls. */
export type ListTab = Exclude<InboxTab, 'approvals'>;

/** The fields that conversations of a tab have. `waiting` has none: see `orderOfTab`. */
export type TabFields = Partial<Pick<Conversation, 'status' | 'takenBy' | 'assigneeId'>>;

const OPEN_STATUSES = ['ai_active', 'awaiting_human', 'human_active'] as const;

/** Alternatives: a conversation of the tab has all the fields of at least one. */
export function fieldsOfTab(tab: ListTab, memberId: string): readonly TabFields[] {
  switch (tab) {
    case 'all':
    case 'waiting':
      return [{}];
    case 'agent':
      return [{ status: 'ai_active' }];
    case 'mine':
      return [
        { status: 'human_active', takenBy: memberId },
        ...OPEN_STATUSES.map((status) => ({ status, assigneeId: memberId })),
      ];
    case 'closed':
      return [{ status: 'closed' }];
  }
}

interface Order {
  readonly orderBy: 'updatedAt' | 'waitingSince';
  readonly direction: 'asc' | 'desc';
  /** Only what has a value after this one is in the tab. */
  readonly after?: { readonly value: string };
  positionOf(conversation: Conversation): Position;
}

const LAST_CHANGED_FIRST: Order = {
  orderBy: 'updatedAt',
  direction: 'desc',
  positionOf,
};
const LONGEST_WAITING_FIRST: Order = {
  orderBy: 'waitingSince',
  direction: 'asc',
  after: { value: '' },
  positionOf: ({ waitingSince, id }) => ({ value: waitingSince ?? '', id }),
};

export const orderOfTab = (tab: ListTab): Order =>
  tab === 'waiting' ? LONGEST_WAITING_FIRST : LAST_CHANGED_FIRST;
