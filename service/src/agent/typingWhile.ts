import { beginTyping, type ConversationView, endTyping } from '../conversations/index.ts';
import type { Deps } from '../platform/deps.ts';
import type { Retry } from '../platform/jobs/outageRetry.ts';

/** Typing is not shown for a decision that takes less than this. */
const MOMENT_MS = 1000;

/**
 * Runs `decide`. If that takes longer than a moment, the customer sees that somebody is typing.
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
    // The decision does not depend on it, so an error is ignored.
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
