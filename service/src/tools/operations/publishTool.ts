import { timestamp } from '../../platform/clock.ts';
import { hasSecretHash } from '../../platform/security/secretBox.ts';
import { newSigningSecret } from '../../platform/security/tokens.ts';
import { checkDefinition } from '../definition/checkDefinition.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import type { JsonObject } from '../../platform/json.ts';
import {
  isToUnpublish,
  isSameOwner,
  ownerInWords,
  type Owner,
  type Unpublishing,
} from '../../platform/owner.ts';
import {
  hashDefinition,
  isInUse,
  isPausedByTeam,
  MAX_TOOLS,
  newTool,
  redefine,
  TOOL_NAME_PATTERN,
  TOOL_NAME_RULE,
  unpublish,
  withNewSecret,
  type Tool,
  type ToolDefinition,
} from '../tool.ts';
import type { Workspace } from '../../team/index.ts';
import { cancelApprovals } from './completeToolCall.ts';
import { assertRoomForTool } from './defineTool.ts';
import { endOfUnpublished } from './endUnpublished.ts';
import { removeTool } from './pauseTool.ts';
import { putLive, testThenGoLive, checkTestArguments, type TestArguments } from './testTool.ts';

interface WantedPublication {
  readonly definition: Omit<ToolDefinition, 'kind' | 'requestTemplate'>;
  readonly sampleArguments: JsonObject;
  readonly owner: Owner;
  /** SHA-256 of the signing secret that the publisher holds; null when it holds none. */
  readonly secretHash: string | null;
  /** Whether to take the tool even if somebody else has it in use. */
  readonly takeOver: boolean;
  /** Whether a paused tool stays paused, and one that another workflow can take over stays so. */
  readonly keepPaused: boolean;
}

interface PublishedTool {
  readonly tool: Tool;
  /** A new signing secret; null when the publisher already holds the tool's secret. */
  readonly secret: string | null;
}

/**
 * Publishes a workflow as the workspace's tool of that name: creates or changes the tool and lets it
 * go live, after a test call if this definition and secret have not passed one. All of it happens in
 * one transaction. Publishing the same tool again changes only the revision; one that is paused goes
 * live again, unless `keepPaused` is set and the team paused it. A tool that this owner published
 * under another name is renamed.
 * @throws invalid_request (400); published_elsewhere (409) when somebody else has the tool in use;
 * tool_exists (409) for an HTTP tool, tool_limit_reached (409), target_url_* (422)
 */
export async function publishTool(
  deps: Deps,
  workspace: Workspace,
  wanted: WantedPublication,
): Promise<PublishedTool> {
  if (!TOOL_NAME_PATTERN.test(wanted.definition.name))
    throw new AppError('invalid_request', `name ${TOOL_NAME_RULE}.`, { param: 'name' });
  const webhook = { ...wanted.definition, kind: 'Webhook', requestTemplate: null } as const;
  const definition = await checkDefinition(deps, workspace, webhook, []);
  const sample = await checkTestArguments(
    deps,
    workspace,
    { ...definition, definitionHash: hashDefinition(definition, {}) },
    wanted.sampleArguments,
    'sample_arguments',
  );
  return deps.store.transaction(async (tx) => {
    // Locks the workspace: names stay unique, and the number of tools stays bounded.
    await tx.workspaces.get(workspace.id);
    const before = await findToolToPublish(tx, deps, workspace, wanted);
    if (before === null) await assertRoomForTool(tx, workspace);
    const published = await prepareTool(tx, deps, workspace, before, definition, wanted);
    // A tool that was paused only because its workflow was unpublished comes back.
    if (wanted.keepPaused && before !== null && isPausedByTeam(before)) {
      // Also when a new definition or secret has just made it a draft.
      const tool: Tool = { ...published.tool, status: 'paused' };
      await tx.tools.put(tool);
      return { ...published, tool };
    }
    return {
      ...published,
      tool: await bringLive(tx, published.tool, sample, deps.clock.now()),
    };
  });
}

/**
 * The tool of this name, else the one that the owner published under another name. When both exist,
 * the latter is removed.
 * @returns the tool, locked; null when neither exists
 */
async function findToolToPublish(
  tx: Tx,
  deps: Deps,
  { id: workspaceId }: Workspace,
  { definition, owner, takeOver }: WantedPublication,
): Promise<Tool | null> {
  const tools = await tx.tools.find({ where: { workspaceId }, limit: MAX_TOOLS });
  const named = tools.find(({ name }) => name === definition.name);
  const own = tools.find(({ publication }) => publication && isSameOwner(publication.owner, owner));
  const found = named ?? own;
  const tool = found ? await tx.tools.get(found.id) : null;
  if (tool) assertFree(tool, definition, owner, takeOver);
  if (own && own.id !== found?.id) await removeTool(tx, deps, own.id);
  return tool;
}

/** @throws tool_exists, published_elsewhere (409) */
function assertFree(
  tool: Tool,
  { endpoint }: Pick<ToolDefinition, 'endpoint'>,
  owner: Owner,
  takeOver: boolean,
): void {
  const details = { existingId: tool.id, param: 'name' };
  if (tool.kind === 'HTTP') {
    throw new AppError('tool_exists', `The name ${tool.name} belongs to an HTTP tool.`, details);
  }
  const { publication } = tool;
  const isOwn = publication ? isSameOwner(publication.owner, owner) : tool.endpoint === endpoint;
  if (isOwn || takeOver || publication?.isReleased || !isInUse(tool)) return;
  const holder = publication
    ? `published by ${ownerInWords(publication.owner)}`
    : `live at ${tool.endpoint}`;
  throw new AppError(
    'published_elsewhere',
    `The tool ${tool.name} is ${holder}. Choose another name. Or unpublish it there, let another workflow take over on the page of the tool in the service, or take it over.`,
    details,
  );
}

/** Creates or changes the tool without saving it. A change cancels the calls that wait for approval. */
async function prepareTool(
  tx: Tx,
  deps: Deps,
  workspace: Workspace,
  before: Tool | null,
  definition: ToolDefinition,
  { owner, secretHash, keepPaused }: WantedPublication,
): Promise<PublishedTool> {
  const now = deps.clock.now();
  const earlier = before?.publication;
  const staysReleased = keepPaused && earlier?.isReleased && isSameOwner(earlier.owner, owner);
  const publication = {
    owner,
    revision: (earlier?.revision ?? 0) + 1,
    ...(staysReleased && { isReleased: true }),
  };
  const isSecretKnown =
    before?.sealedSecret != null && hasSecretHash(deps.secrets, before.sealedSecret, secretHash);
  const secret = isSecretKnown ? null : newSigningSecret();
  const sealedSecret = secret === null ? null : deps.secrets.seal(secret);
  if (before === null) {
    const made = newTool(
      workspace.id,
      definition,
      { sealedSecret, sealedTemplateSecrets: {} },
      now,
    );
    return { tool: { ...made, publication }, secret };
  }
  const changed = { ...redefine(before, definition, now), publication };
  if (changed.definitionHash !== before.definitionHash)
    await cancelApprovals(tx, deps, { toolId: before.id }, now);
  return { tool: sealedSecret === null ? changed : withNewSecret(changed, sealedSecret), secret };
}

async function bringLive(tx: Tx, tool: Tool, sample: TestArguments, now: Date): Promise<Tool> {
  if (tool.testedAt !== null) return putLive(tx, tool, now);
  if (tool.goLiveCallId === null) return testThenGoLive(tx, tool, sample, now);
  await tx.tools.put(tool);
  return tool;
}

/**
 * Pauses a tool for the workflow that published it. Nothing happens to a tool that is gone, that
 * another workflow published, or that was published again since. The tool's calls wait for a minute,
 * and are cancelled when it was not published again by then.
 * @returns whether this call paused the tool
 * @see docs/decisions/0039-what-ends-an-approval.md
 */
export const unpublishTool = (
  deps: Deps,
  workspace: Workspace,
  name: string,
  unpublishing: Unpublishing,
) =>
  deps.store.transaction(async (tx): Promise<boolean> => {
    const where = { workspaceId: workspace.id, name };
    const [found] = await tx.tools.find({ where, limit: 1 });
    const tool = found ? await tx.tools.get(found.id) : null;
    if (!tool?.publication) return false;
    const { endpoint, publication } = tool;
    const isOwn = isToUnpublish({ ...publication, endpoint }, unpublishing);
    if (!isOwn || !isInUse(tool)) return isOwn;
    const now = deps.clock.now();
    await tx.tools.put(unpublish(tool, now));
    await tx.jobs.enqueue(endOfUnpublished(tool, timestamp(now)));
    return true;
  });
