import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Workspace } from '../../team/index.ts';
import { isOpen } from '../wait.ts';
import { putEnded } from './endWait.ts';
import { lockWait, peekWait, viewWait, type WaitView } from './waits.ts';

/**
 * Nobody waits any more: the question is withdrawn, and the execution goes on without an answer. A
 * wait that has ended stays as it is.
 * @throws not_found (404)
 */
export const cancelWait = (deps: Deps, workspace: Workspace, id: string, by: Actor) =>
  deps.store.transaction(async (tx): Promise<WaitView> => {
    await peekWait(tx, workspace, id);
    const locked = await lockWait(tx, id);
    if (locked && isOpen(locked.wait))
      await putEnded(tx, deps, locked, { status: 'cancelled', cancelledBy: by }, deps.clock.now());
    return viewWait(tx, await peekWait(tx, workspace, id));
  });
