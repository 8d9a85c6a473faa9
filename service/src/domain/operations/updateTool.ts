import { checkDefinition, type WantedDefinition } from '../checkDefinition.ts';
import type { Deps } from '../deps.ts';
import { secretsAfterChange } from '../templateSecrets.ts';
import { redefine, type Tool, type ToolDefinition } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { cancelApprovals } from './cancelApprovals.ts';
import { assertNameIsFree, sealAll } from './createTool.ts';
import { loadTool, peekTool } from './loadTool.ts';

/**
 * Changes the given parts of a tool's definition. A change to how the tool is called makes it a draft
 * that must be tested again, and cancels the calls that wait for approval: a decision counts only for
 * what was shown.
 * @param secrets replace those of the same name; the others stay. When the request goes to another
 * scheme, host or port, it needs the secrets that it uses again
 * @throws invalid_request (400), not_found (404), tool_exists (409), target_url_* (422)
 */
export async function updateTool(
  deps: Deps,
  workspace: Workspace,
  id: string,
  changes: Partial<Omit<WantedDefinition, 'kind'>>,
  secrets: Readonly<Record<string, string>>,
): Promise<Tool> {
  const { store, clock } = deps;
  const sealed = sealAll(deps, secrets);
  for (;;) {
    const before = await store.transaction((tx) => peekTool(tx, workspace, id));
    const secretNames = Object.keys({ ...before.sealedTemplateSecrets, ...sealed });
    const definition = await checkDefinition(
      deps,
      workspace,
      { ...before, ...changes },
      secretNames,
      before,
    );
    const sealedTemplateSecrets = secretsAfterChange(
      before.requestTemplate,
      definition.requestTemplate,
      before.sealedTemplateSecrets,
      sealed,
    );
    const updated = await store.transaction(async (tx) => {
      await tx.workspaces.get(workspace.id);
      const tool = await loadTool(tx, workspace, id);
      // It changed while it was checked: check again.
      if (tool.definitionHash !== before.definitionHash) return null;
      await assertNameIsFree(tx, workspace, { id, name: definition.name });
      const now = clock.now();
      const changed = redefine(
        tool,
        { ...onlyGiven(definition, changes), sealedTemplateSecrets },
        now,
      );
      if (changed.definitionHash !== tool.definitionHash)
        await cancelApprovals(tx, deps, { toolId: id }, now);
      await tx.tools.put(changed);
      return changed;
    });
    if (updated) return updated;
  }
}

/**
 * Leaves out what was not given, since somebody may have changed it while the rest was checked.
 */
const onlyGiven = (
  definition: ToolDefinition,
  changes: Partial<Record<keyof ToolDefinition, unknown>>,
): Partial<ToolDefinition> =>
  Object.fromEntries(Object.entries(definition).filter(([name]) => Object.hasOwn(changes, name)));
