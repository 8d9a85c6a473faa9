import type { Deps } from '../../platform/deps.ts';
import { errorWithFix } from '../../platform/http/errorCatalogue.ts';
import type { Workspace } from '../../team/index.ts';
import { collect } from '../resumption.ts';
import { isOpen } from '../wait.ts';
import { findNewestByResumeUrl, lockWaitOf, putWait, viewWait, type WaitView } from './waits.ts';

/**
 * Gives a wait that has ended to its execution, which goes on with it. Unless the call in which it
 * collected fails, the execution is not called again. Collecting again gives the same.
 * @returns the wait, and whether this call was the first
 * @throws wait_not_ended, wait_superseded (409), not_found (404)
 */
export const collectWait = (deps: Deps, workspace: Workspace, id: string) =>
  deps.store.transaction(async (tx): Promise<WaitView & { isFirst: boolean }> => {
    const { wait } = await lockWaitOf(tx, workspace, id);
    if (isOpen(wait)) throw errorWithFix('wait_not_ended', `Wait ${id} is open.`);
    const newest = await findNewestByResumeUrl(tx, wait);
    if (newest && newest.id !== id)
      throw errorWithFix(
        'wait_superseded',
        `Wait ${newest.id} has the same resume_url and is newer than ${id}.`,
        { existingId: newest.id },
      );
    const now = deps.clock.now();
    const collected = collect(wait, now);
    if (collected !== wait) {
      await putWait(tx, collected);
      if (wait.turnId !== null) await deps.reactions.onWaitCollected(tx, wait.turnId, now);
    }
    return { ...(await viewWait(tx, collected)), isFirst: collected !== wait };
  });
