import { newSigningSecret } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { pause, release, type Tool } from '../tool.ts';
import type { Workspace } from '../../team/index.ts';
import { cancelApprovals } from './completeToolCall.ts';
import { loadTool } from './tools.ts';

/**
 * Stops the agent from calling a tool, and cancels the calls that wait for approval.
 * @throws not_found (404)
 */
export const pauseTool = (deps: Deps, workspace: Workspace, id: string) =>
  deps.store.transaction(async (tx): Promise<Tool> => {
    const now = deps.clock.now();
    const tool = await loadTool(tx, workspace, id);
    const paused = pause(tool, now);
    if (paused !== tool) await tx.tools.put(paused);
    await cancelApprovals(tx, deps, { toolId: id }, now);
    return paused;
  });

/** Lets another workflow take the tool. @throws not_found (404) */
export const releaseTool = (deps: Deps, workspace: Workspace, id: string) =>
  deps.store.transaction(async (tx) => tx.tools.put(release(await loadTool(tx, workspace, id))));

/**
 * Removes a tool and cancels the calls that wait for approval. The calls it made stay on record.
 * @throws not_found (404)
 */
export const deleteTool = (deps: Deps, workspace: Workspace, id: string) =>
  deps.store.transaction(async (tx) => {
    await loadTool(tx, workspace, id);
    await removeTool(tx, deps, id);
  });

/** @param id of a locked tool */
export async function removeTool(tx: Tx, deps: Deps, id: string): Promise<void> {
  await cancelApprovals(tx, deps, { toolId: id }, deps.clock.now());
  await tx.tools.delete(id);
}

/**
 * Gives a Webhook tool a new signing secret. From now on, only the new secret signs calls.
 * @returns the secret, shown this once
 * @throws invalid_request (400) for an HTTP tool, which signs nothing; not_found (404)
 */
export const rotateToolSecret = (
  { store, clock, secrets }: Deps,
  workspace: Workspace,
  id: string,
) => {
  const secret = newSigningSecret();
  const sealedSecret = secrets.seal(secret);
  return store.transaction(async (tx): Promise<{ tool: Tool; secret: string }> => {
    const tool = await loadTool(tx, workspace, id);
    if (tool.kind !== 'Webhook')
      throw new AppError(
        'invalid_request',
        'An HTTP tool has no signing secret. Change its secrets with PATCH.',
      );
    const rotated = { ...tool, sealedSecret, updatedAt: timestamp(clock.now()) };
    await tx.tools.put(rotated);
    return { tool: rotated, secret };
  });
};
