import { newSigningSecret } from '../../security/tokens.ts';
import { checkDefinition, type WantedDefinition } from '../checkDefinition.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import { MAX_TOOLS, newTool, type Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Defines a tool. It begins as a draft.
 * @param secrets HTTP kind: the values of `{{secrets.NAME}}`, kept sealed
 * @returns the tool and, for the Webhook kind, its signing secret, which is shown this once
 * @throws invalid_request (400), tool_exists, tool_limit_reached (409), target_url_* (422)
 */
export async function createTool(
  deps: Deps,
  workspace: Workspace,
  wanted: WantedDefinition,
  secrets: Readonly<Record<string, string>>,
): Promise<{ tool: Tool; secret: string | null }> {
  const definition = await checkDefinition(deps, workspace, wanted, Object.keys(secrets));
  const secret = definition.kind === 'Webhook' ? newSigningSecret() : null;
  const sealedSecret = secret === null ? null : deps.secrets.seal(secret);
  const sealedTemplateSecrets = sealAll(deps, secrets);
  const tool = await deps.store.transaction(async (tx) => {
    // Locks the workspace: names stay unique, and the number of tools stays bounded.
    await tx.workspaces.get(workspace.id);
    const sealed = { sealedSecret, sealedTemplateSecrets };
    const made = newTool(workspace.id, definition, sealed, deps.clock.now());
    await assertNameIsFree(tx, workspace, made);
    await assertRoomForTool(tx, workspace);
    await tx.tools.put(made);
    return made;
  });
  return { tool, secret };
}

/** @throws tool_limit_reached (409) */
export async function assertRoomForTool(tx: Tx, workspace: Workspace): Promise<void> {
  const all = await tx.tools.find({ where: { workspaceId: workspace.id }, limit: MAX_TOOLS });
  if (all.length < MAX_TOOLS) return;
  throw new AppError(
    'tool_limit_reached',
    `A workspace has at most ${MAX_TOOLS} tools. ${ERROR_CATALOGUE.tool_limit_reached.fix}`,
  );
}

export const sealAll = (
  { secrets: box }: Pick<Deps, 'secrets'>,
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, box.seal(value)]));

/** @throws tool_exists (409) when another tool has the name */
export async function assertNameIsFree(
  tx: Tx,
  workspace: Workspace,
  { id, name }: Pick<Tool, 'id' | 'name'>,
): Promise<void> {
  const [twin] = await tx.tools.find({ where: { workspaceId: workspace.id, name }, limit: 1 });
  if (!twin || twin.id === id) return;
  throw new AppError(
    'tool_exists',
    `Tool ${twin.id} has the name ${JSON.stringify(name)} already. ${ERROR_CATALOGUE.tool_exists.fix}`,
    {
      existingId: twin.id,
      param: 'name',
    },
  );
}
