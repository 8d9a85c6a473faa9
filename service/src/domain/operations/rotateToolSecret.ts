import { newSigningSecret } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { AppError } from '../errorCatalogue.ts';
import type { Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { loadTool } from './loadTool.ts';

/**
 * Gives a Webhook tool a new signing secret. From now on it alone signs the calls.
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
