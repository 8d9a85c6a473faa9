import { openOrNull } from '../../platform/security/secretBox.ts';
import { isSameText, newSigningSecret } from '../../platform/security/tokens.ts';
import { checkDefinition, type WantedDefinition } from '../definition/checkDefinition.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, errorWithFix } from '../../platform/http/errorCatalogue.ts';
import { isPlaceholder, parsePlaceholders } from '../definition/placeholders.ts';
import type { RequestTemplate } from '../definition/requestTemplate.ts';
import {
  isPausedByTeam,
  MAX_TOOL_SECRETS,
  MAX_TOOLS,
  newTool,
  redefine,
  type Tool,
  type ToolDefinition,
} from '../tool.ts';
import { parseUrlTemplate } from '../definition/urlTemplate.ts';
import type { Workspace } from '../../team/index.ts';
import { cancelApprovals } from './completeToolCall.ts';
import { loadTool, peekTool } from './tools.ts';

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
  const sealedTemplateSecrets = sealAll(deps, secrets, {});
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
  throw errorWithFix('tool_limit_reached', `A workspace has at most ${MAX_TOOLS} tools.`);
}

/** Secrets of a tool by name, sealed. */
type Sealed = Readonly<Record<string, string>>;

/**
 * Seals secrets. The same value looks different each time it is sealed, so an unchanged value keeps
 * its stored form and does not count as a change.
 */
function sealAll(
  { secrets: box }: Pick<Deps, 'secrets'>,
  secrets: Readonly<Record<string, string>>,
  stored: Sealed,
): Sealed {
  const seal = ([name, value]: [string, string]) => {
    const sealed = Object.hasOwn(stored, name) ? stored[name]! : null;
    const known = sealed === null ? null : openOrNull(box, sealed);
    const isKnown = known !== null && isSameText(known, value);
    return [name, isKnown ? sealed! : box.seal(value)] as const;
  };
  return Object.fromEntries(Object.entries(secrets).map(seal));
}

/** @throws tool_exists (409) when another tool has the name */
async function assertNameIsFree(
  tx: Tx,
  workspace: Workspace,
  { id, name }: Pick<Tool, 'id' | 'name'>,
): Promise<void> {
  const [twin] = await tx.tools.find({ where: { workspaceId: workspace.id, name }, limit: 1 });
  if (!twin || twin.id === id) return;
  throw errorWithFix(
    'tool_exists',
    `Tool ${twin.id} has the name ${JSON.stringify(name)} already.`,
    {
      existingId: twin.id,
      param: 'name',
    },
  );
}

/**
 * Changes the given parts of a tool's definition. A change to how the tool is called makes it a draft
 * that must be tested again, and cancels the calls that wait for approval: a decision counts only for
 * what was shown.
 * @param secrets new secrets, and new values of stored ones. The other stored secrets stay, except
 * those that a changed request template does not use. None stays when the request goes to another
 * scheme, host or port: all that it uses must then be given
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
  for (;;) {
    const before = await store.transaction((tx) => peekTool(tx, workspace, id));
    const sealed = sealAll(deps, secrets, before.sealedTemplateSecrets);
    const secretNames = Object.keys({ ...before.sealedTemplateSecrets, ...sealed });
    const definition = await checkDefinition(
      deps,
      workspace,
      { ...before, ...changes },
      secretNames,
      before,
    );
    const sealedTemplateSecrets = changes.requestTemplate
      ? secretsAfterChange(before, definition, sealed)
      : { ...before.sealedTemplateSecrets, ...sealed };
    assertSecretLimit(before.sealedTemplateSecrets, sealedTemplateSecrets);
    const updated = await store.transaction(async (tx) => {
      await tx.workspaces.get(workspace.id);
      const tool = await loadTool(tx, workspace, id);
      // The tool changed during the check: check again.
      if (tool.definitionHash !== before.definitionHash) return null;
      await assertNameIsFree(tx, workspace, { id, name: definition.name });
      const now = clock.now();
      const given = onlyGiven(definition, changes);
      const redefined = redefine(tool, { ...given, sealedTemplateSecrets }, now);
      // The next start of n8n would take a draft live.
      const changed =
        tool.publication && isPausedByTeam(tool)
          ? { ...redefined, status: tool.status }
          : redefined;
      if (changed.definitionHash !== tool.definitionHash)
        await cancelApprovals(tx, deps, { toolId: id }, now);
      await tx.tools.put(changed);
      return changed;
    });
    if (updated) return updated;
  }
}

/**
 * Leaves out what the caller did not give: somebody else may have changed it during the check.
 */
const onlyGiven = (
  definition: ToolDefinition,
  changes: Partial<Record<keyof ToolDefinition, unknown>>,
): Partial<ToolDefinition> =>
  Object.fromEntries(Object.entries(definition).filter(([name]) => Object.hasOwn(changes, name)));

/**
 * A tool's secrets after a change of its request: the given ones, and the stored ones that the
 * request still uses. Nobody can read a stored secret, so a person who edits a tool must not be
 * able to send one to a system of their own. A secret is therefore only for the scheme, host and
 * port it was given for. When the request goes elsewhere, the secrets it uses must be given again.
 * @throws invalid_request (400) that names the secrets to give again
 * @see docs/decisions/0029-what-outbound-calls-tell-and-carry.md
 */
function secretsAfterChange(
  before: Pick<Tool, 'requestTemplate' | 'sealedTemplateSecrets'>,
  after: Pick<ToolDefinition, 'requestTemplate'>,
  given: Sealed,
): Sealed {
  const origin = originOf(after.requestTemplate!);
  const used = secretsUsedBy(after.requestTemplate!);
  if (origin === originOf(before.requestTemplate!)) {
    // In their stored order, since the definition's hash depends on it.
    const kept = Object.entries(before.sealedTemplateSecrets).filter(
      ([name]) => used.includes(name) || Object.hasOwn(given, name),
    );
    return { ...Object.fromEntries(kept), ...given };
  }
  const missing = used.filter((name) => !Object.hasOwn(given, name));
  if (missing.length === 0) return given;
  throw new AppError(
    'invalid_request',
    `secrets ${missing.join(', ')} must be given again: the request goes to ${origin} now, and a stored secret is never sent to another scheme, host or port than the one it was given for.`,
    { param: 'secrets' },
  );
}

/**
 * A tool may have more than `MAX_TOOL_SECRETS`, since an earlier version of the service moved keys
 * from headers into secrets without a limit. Such a tool can still be edited, but not get more.
 * @throws invalid_request (400)
 */
function assertSecretLimit(stored: Sealed, after: Sealed): void {
  const count = Object.keys(after).length;
  if (count <= MAX_TOOL_SECRETS || count <= Object.keys(stored).length) return;
  throw new AppError(
    'invalid_request',
    `secrets must have at most ${MAX_TOOL_SECRETS} entries, together with those that are stored. Give a stored one a new value, or change request_template, which removes those it no longer uses.`,
    { param: 'secrets' },
  );
}

/** Normalised for comparing: in lower case, and without the scheme's default port. */
const originOf = ({ url }: RequestTemplate): string => new URL(parseUrlTemplate(url).origin).origin;

/** The names of the secrets in a template. They can stand only in headers. */
function secretsUsedBy({ headers = {} }: RequestTemplate): readonly string[] {
  const placeholders = Object.values(headers).flatMap(parsePlaceholders).filter(isPlaceholder);
  return [
    ...new Set(placeholders.filter((each) => each.kind === 'secret').map(({ name }) => name)),
  ];
}
