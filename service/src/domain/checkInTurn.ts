import type { Bounds } from '../limits/bounds.ts';
import { loopShare } from '../limits/loopShare.ts';
import { AppError } from './errorCatalogue.ts';
import type { Workspace } from './workspace.ts';

/**
 * For one workspace. A check takes up to a quarter of a second, so a longer queue would keep callers
 * waiting for longer than they do.
 */
const MAX_WAITING = 50;

/**
 * Checks a tool's definition, or the arguments of a test call, when the workspace's turn comes. A
 * check may hold the event loop for a moment; those of one workspace do not hold up another's.
 * @throws what the check throws; rate_limited (429) when too many of the workspace wait
 */
export async function checkInTurn<T>(
  workspace: Pick<Workspace, 'id'>,
  bounds: Bounds,
  check: () => T,
): Promise<T> {
  if (loopShare.waitingOf(workspace.id) >= MAX_WAITING) {
    bounds.reached('workspace_checks');
    throw new AppError(
      'rate_limited',
      `${MAX_WAITING} definitions and test calls of this workspace wait to be checked. Try again in a few seconds, with fewer at once.`,
      { retryAfterSeconds: 5 },
    );
  }
  return loopShare.run(workspace.id, check);
}
