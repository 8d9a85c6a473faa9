import type { Actor } from '../../platform/actor.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, errorWithFix } from '../../platform/http/errorCatalogue.ts';
import type { Workspace } from '../../team/index.ts';
import { isOpen, type Wait } from '../wait.ts';
import { putEnded } from './endWait.ts';
import { lockWaitOf, peekWait, viewWait, type WaitView } from './waits.ts';

/**
 * Records what a person decided, once: the first decision counts, and the execution goes on with it.
 * @param decision.note up to MAX_WAIT_NOTE_CHARACTERS characters
 * @param conversationId the conversation that shows the wait; undefined: any, or none
 * @throws wait_ended (409) with who decided and when, invalid_request (400) for a question to a
 * customer, not_found (404)
 */
export const decideWait = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  { approved, by, note }: { approved: boolean; by: Actor; note: string | null },
  conversationId?: string,
) =>
  deps.store.transaction(async (tx): Promise<WaitView> => {
    const now = deps.clock.now();
    const locked = await lockWaitOf(tx, workspace, id, conversationId);
    assertDecidable(locked.wait, now);
    const decision = { approved, by, note, at: timestamp(now) };
    await putEnded(tx, deps, locked, { status: approved ? 'approved' : 'rejected', decision }, now);
    return viewWait(tx, await peekWait(tx, workspace, id));
  });

function assertDecidable(wait: Wait, now: Date): void {
  if (wait.kind !== 'decision')
    throw new AppError(
      'invalid_request',
      `Wait ${wait.id} asks the customer, so nobody can decide it. Wait for their reply, or cancel the wait.`,
      { param: 'id' },
    );
  if (isOpen(wait) && Date.parse(wait.expiresAt) > now.getTime()) return;
  throw errorWithFix('wait_ended', `Wait ${wait.id} ${endInWords(wait)}.`);
}

/** "was approved by Ana at …", for somebody who decides too late. */
function endInWords({ status, decision, cancelledBy, endedAt, expiresAt }: Wait): string {
  if (decision !== null)
    return `was ${decision.approved ? 'approved' : 'rejected'} by ${decision.by.name} at ${decision.at}`;
  if (status === 'open' || status === 'expired') return `expired at ${expiresAt}`;
  if (status === 'closed') return `ended at ${endedAt}, when the conversation was closed`;
  if (cancelledBy !== undefined) return `was cancelled by ${cancelledBy.name} at ${endedAt}`;
  return `was ${status.replaceAll('_', ' ')} at ${endedAt}`;
}
