import { isCustomerWaiting } from '../conversations/index.ts';
import { html, type View } from '../platform/html/html.ts';
import { holderName } from './labels.ts';
import type { InboxItem } from './listInbox.ts';

/**
 * The one thing to know about a conversation in the list: what is wrong, else what it waits for,
 * else who has it.
 */
export function rowStatus(item: InboxItem, memberId: string): View {
  const { conversation, hasFailed } = item;
  const { status, pendingApprovals } = conversation;
  if (hasFailed && status !== 'closed') return statusView('danger', 'Not delivered');
  if (pendingApprovals > 0)
    return statusView(
      'warning',
      pendingApprovals === 1 ? 'Needs approval' : `${pendingApprovals} approvals`,
    );
  if (isCustomerWaiting(conversation)) return statusView('warning', 'Waiting');
  switch (status) {
    case 'awaiting_human':
      return statusView('warning', 'Waiting');
    case 'ai_active':
      return statusView('quiet', 'Agent');
    case 'closed':
      return statusView('quiet', 'Closed');
    case 'human_active':
      return statusView('accent', holder(item, memberId));
  }
}

const statusView = (role: 'danger' | 'warning' | 'accent' | 'quiet', words: View): View =>
  html`<span class=${`status status-${role}`}>${words}</span>`;

const holder = ({ conversation, takenByName }: InboxItem, memberId: string): View =>
  conversation.takenBy === memberId
    ? 'You'
    : html`<bdi>${holderName(conversation, takenByName) ?? 'A person'}</bdi>`;
