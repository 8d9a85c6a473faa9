import { beginTyping, type ConversationView, endTyping } from '../conversations/index.ts';
import type { Deps } from '../platform/deps.ts';
import type { Retry } from '../platform/jobs/outageRetry.ts';

/** What takes less is not shown to the customer. */
const MOMENT_MS = 1000;

/**
 * Decides with the customer seeing that somebody is typing, once it takes longer than a moment.
 * @param view whose customer it is
 * @param maxMs how long `decide` may take
 */
export async function typingWhile<Result>(
  deps: Deps,
  { conversation, contact }: Pick<ConversationView, 'conversation' | 'contact'>,
  { maxMs, retry }: { readonly maxMs: number; readonly retry: Retry },
  decide: () => Promise<Result>,
): Promise<Result> {
  let shown: Promise<void> | null = null;
  const show = () =>
    deps.store.transaction((tx) => {
      const now = deps.clock.now();
      return beginTyping(tx, deps, { conversation, contact }, new Date(now.getTime() + maxMs), now);
    });
  const timer = setTimeout(() => {
    // Nothing depends on what the customer sees while it runs.
    shown = show().catch(() => {});
  }, MOMENT_MS);
  try {
    return await decide();
  } finally {
    clearTimeout(timer);
    await (shown as Promise<void> | null);
    if (shown) await retry(() => deps.store.transaction((tx) => endTyping(tx, contact.id)));
  }
}
