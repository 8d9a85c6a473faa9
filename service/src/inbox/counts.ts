import type { Deps } from '../platform/deps.ts';
import type { NavigationCounts } from '../platform/html/viewer.ts';
import type { SignedIn } from '../team/index.ts';
import { countWaitingConversations, MAX_COUNTED } from './listInbox.ts';
import { countWaiting, MAX_SHOWN } from './waiting/listWaiting.ts';

/** `7`, `99+`; empty for none. @param most what is counted at most */
export const countInWords = (count: number, most: number): string =>
  count === 0 ? '' : count < most ? String(count) : `${most - 1}+`;

/** What the navigation says to a member. */
export async function readCounts(
  { store }: Pick<Deps, 'store'>,
  { workspace, member }: SignedIn,
): Promise<NavigationCounts> {
  const [conversations, decisions] = await Promise.all([
    countWaitingConversations({ store }, member),
    countWaiting({ store }, workspace),
  ]);
  return {
    conversations: countInWords(conversations, MAX_COUNTED),
    decisions: countInWords(decisions, MAX_SHOWN),
  };
}
