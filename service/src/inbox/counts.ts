import type { Deps } from '../platform/deps.ts';
import type { NavigationCounts } from '../platform/html/viewer.ts';
import type { SignedIn } from '../team/index.ts';
import { countWaitingConversations, MAX_COUNTED } from './listInbox.ts';
import { countWaiting, MAX_SHOWN } from './waiting/listWaiting.ts';

/** `7`, `99+`; empty for none. @param max where counting stops */
export const countInWords = (count: number, max: number): string =>
  count === 0 ? '' : count < max ? String(count) : `${max - 1}+`;

/** The numbers in a member's navigation. */
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
