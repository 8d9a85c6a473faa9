import { createHash } from 'node:crypto';
import type { Document } from '../store/store.ts';
import { timestamp } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import type { JsonObject } from '../platform/json.ts';
import type { Owner } from '../platform/owner.ts';
import type { RequestTemplate } from './definition/requestTemplate.ts';

/**
 * A custom tool: what the agent may call on the workspace's own systems, and the pure rules for its
 * status. draft → (tested) → live ⇄ paused; an edit to how it is called makes it a draft again.
 */

export const TOOL_KINDS = ['Webhook', 'HTTP'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export const TOOL_STATUSES = ['draft', 'live', 'paused'] as const;
type ToolStatus = (typeof TOOL_STATUSES)[number];

export const TOOL_NAME_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
export const TOOL_NAME_RULE =
  'must begin with a lower-case letter and have only lower-case letters, digits and _, at most 64 in all';
export const MAX_TOOLS = 100;
export const DEFAULT_TOOL_TIMEOUT_SECONDS = 10;
export const MAX_TOOL_TIMEOUT_SECONDS = 120;
export const SECRET_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
export const MAX_TOOL_SECRETS = 20;
export const MAX_EXAMPLE_PHRASES = 20;
export const MAX_EXAMPLE_PHRASE_CHARACTERS = 200;

/** What a person defines: everything but the tool's status and secrets. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12, an object at its root. */
  readonly parameters: JsonObject;
  readonly kind: ToolKind;
  /** Webhook kind. */
  readonly endpoint: string | null;
  /** HTTP kind. */
  readonly requestTemplate: RequestTemplate | null;
  readonly timeoutSeconds: number;
  readonly askBeforeRunning: boolean;
  /**
   * The tool only looks something up: calling it changes nothing. Absent means false. The same as
   * MCP's `readOnlyHint`.
   */
  readonly readOnly?: boolean;
  /** What customers who want this tool write, for example "where is my order". */
  readonly examplePhrases?: readonly string[];
}

export interface Tool extends Document, ToolDefinition {
  readonly workspaceId: string;
  readonly status: ToolStatus;
  /** Webhook kind: signs each call. Sealed. */
  readonly sealedSecret: string | null;
  /** HTTP kind: for `{{secrets.NAME}}` in headers. Sealed. */
  readonly sealedTemplateSecrets: Readonly<Record<string, string>>;
  /** Changes whenever an edit changes how the tool is called. */
  readonly definitionHash: string;
  readonly testedAt: string | null;
  /** The test call after which the tool goes live; null when none is awaited. */
  readonly goLiveCallId: string | null;
  /** How the newest test call of this definition ended. */
  readonly lastTest: LastTest | null;
  /** Absent for a tool that was defined on a screen or by the API alone. */
  readonly publication?: Publication;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The workflow that published a tool and controls it since then. */
interface Publication {
  readonly owner: Owner;
  /** How often the tool was published. Unpublishing an older revision does nothing. */
  readonly revision: number;
  /** A member has allowed another workflow to take the tool while it is in use. */
  readonly isReleased?: boolean;
  /** When its workflow was unpublished; null again once the tool was paused here. */
  readonly unpublishedAt?: string | null;
}

/**
 * How long the calls of an unpublished tool wait for it: n8n unpublishes a workflow for a moment to
 * publish a new version of it.
 * @see docs/decisions/0039-what-ends-an-approval.md
 */
export const UNPUBLISHED_PATIENCE_MS = 60_000;

interface LastTest {
  readonly toolCallId: string;
  readonly succeeded: boolean;
  /** Null after a success. */
  readonly error: string | null;
  readonly at: string;
}

/** The time limit of one attempt, in whole milliseconds, since timers take no fractions. */
export const timeoutMsOf = ({ timeoutSeconds }: Pick<Tool, 'timeoutSeconds'>): number =>
  Math.round(timeoutSeconds * 1000);

/**
 * Two definitions that make the same calls have the same hash. Template secrets are hashed in their
 * sealed form.
 */
export function hashDefinition(
  { name, parameters, kind, endpoint, requestTemplate }: ToolDefinition,
  sealedTemplateSecrets: Readonly<Record<string, string>>,
): string {
  const hashed = [kind, name, parameters, endpoint, requestTemplate, sealedTemplateSecrets];
  return createHash('sha256').update(JSON.stringify(hashed)).digest('hex');
}

/** Lets another workflow take the tool. Until one does, it stays as it is. */
export const release = (tool: Tool): Tool =>
  tool.publication ? { ...tool, publication: { ...tool.publication, isReleased: true } } : tool;

const UNTESTED = { status: 'draft', testedAt: null, goLiveCallId: null, lastTest: null } as const;

/** A tool begins as a draft. */
export const newTool = (
  workspaceId: string,
  definition: ToolDefinition,
  secrets: Pick<Tool, 'sealedSecret' | 'sealedTemplateSecrets'>,
  now: Date,
): Tool => ({
  id: newId('tool'),
  workspaceId,
  ...definition,
  ...secrets,
  definitionHash: hashDefinition(definition, secrets.sealedTemplateSecrets),
  ...UNTESTED,
  createdAt: timestamp(now),
  updatedAt: timestamp(now),
});

/**
 * Gives a tool another definition. When that changes how it is called, the tool becomes a draft
 * that has to be tested again. Its description, example phrases, time-out, approval and `readOnly`
 * can change while it is live.
 */
export function redefine(
  tool: Tool,
  changes: Partial<ToolDefinition> & Pick<Partial<Tool>, 'sealedSecret' | 'sealedTemplateSecrets'>,
  now: Date,
): Tool {
  const changed = { ...tool, ...changes, updatedAt: timestamp(now) };
  const definitionHash = hashDefinition(changed, changed.sealedTemplateSecrets);
  // The stored hash may come from older sealed forms: a new encryption key leaves it as it is.
  if (definitionHash === hashDefinition(tool, tool.sealedTemplateSecrets)) return changed;
  return { ...changed, definitionHash, ...UNTESTED };
}

/** Gives a tool a secret that its endpoint may not know yet: the tool must be tested again. */
export const withNewSecret = (tool: Tool, sealedSecret: string): Tool => ({
  ...tool,
  sealedSecret,
  ...UNTESTED,
});

/** The agent calls the tool now, or will once the test call that is under way has succeeded. */
export const isInUse = ({ status, goLiveCallId }: Tool): boolean =>
  status === 'live' || goLiveCallId !== null;

/**
 * Notes how a test call ended. After a success the definition is tested, and the tool goes live if it
 * was waiting for this call. A test that is older than the awaited or the last one is ignored: its
 * request may have been signed with a former secret.
 */
export function recordTest(tool: Tool, test: LastTest, testedHash: string, now: Date): Tool {
  const newest = tool.goLiveCallId ?? tool.lastTest?.toolCallId ?? '';
  if (testedHash !== tool.definitionHash || test.toolCallId < newest) return tool;
  const wasAwaited = tool.goLiveCallId === test.toolCallId;
  const tested = {
    ...tool,
    lastTest: test,
    testedAt: test.succeeded ? test.at : tool.testedAt,
    goLiveCallId: wasAwaited ? null : tool.goLiveCallId,
  };
  return wasAwaited && test.succeeded ? goLive(tested, now) : tested;
}

export const goLive = (tool: Tool, now: Date): Tool =>
  tool.status === 'live'
    ? tool
    : { ...tool, status: 'live', goLiveCallId: null, updatedAt: timestamp(now) };

/**
 * A live tool is paused. A draft stays one, but no longer goes live; when a workflow published it,
 * it is paused too, since the next start of n8n would take it live.
 */
export function pause(tool: Tool, now: Date): Tool {
  const stopped = withUnpublishedAt(stop(tool, now), null);
  return tool.publication ? { ...stopped, status: 'paused' } : stopped;
}

/** The tool is paused, and not only because its workflow was unpublished. */
export const isPausedByTeam = ({ status, publication }: Tool): boolean =>
  status === 'paused' && !publication?.unpublishedAt;

/** Pauses a tool whose workflow was unpublished, for a moment or for good. */
export const unpublish = (tool: Tool, now: Date): Tool =>
  withUnpublishedAt(stop(tool, now), timestamp(now));

function stop(tool: Tool, now: Date): Tool {
  if (tool.status === 'live') return { ...tool, status: 'paused', updatedAt: timestamp(now) };
  return tool.goLiveCallId === null
    ? tool
    : { ...tool, goLiveCallId: null, updatedAt: timestamp(now) };
}

function withUnpublishedAt(tool: Tool, unpublishedAt: string | null): Tool {
  const { publication } = tool;
  return !publication || (publication.unpublishedAt ?? null) === unpublishedAt
    ? tool
    : { ...tool, publication: { ...publication, unpublishedAt } };
}

/** The tool is paused because its workflow was unpublished, less than a minute ago. */
export const mayComeBack = ({ status, publication }: Tool, now: Date): boolean =>
  status === 'paused' &&
  typeof publication?.unpublishedAt === 'string' &&
  now.getTime() < Date.parse(publication.unpublishedAt) + UNPUBLISHED_PATIENCE_MS;
