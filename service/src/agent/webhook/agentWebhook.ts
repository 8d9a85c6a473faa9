import type { Owner } from '../../platform/owner.ts';
import type { Tx } from '../../store/collections.ts';
import type { Document } from '../../store/store.ts';

/** Where turns are sent when a workflow decides for the agent. Its id is the workspace's. */
export interface AgentWebhook extends Document {
  readonly workspaceId: string;
  readonly endpoint: string;
  /** How long a turn may take before it fails. */
  readonly timeoutSeconds: number;
  readonly sealedSecret: string;
  readonly owner: Owner;
  /** How many times it was published. */
  readonly revision: number;
  readonly publishedAt: string;
  /** When its workflow unpublished it; null while it is published. */
  readonly removedAt: string | null;
  /** An owner of the workspace lets another workflow take its place. */
  readonly isReleased?: boolean;
}

/**
 * An n8n editor that listens for a test event: turns of "Try it" go there until it expires. Its id is
 * the workspace's.
 */
export interface AgentTestWebhook
  extends Pick<AgentWebhook, 'id' | 'workspaceId' | 'endpoint' | 'sealedSecret' | 'owner'> {
  readonly expiresAt: string;
}

export const MIN_TURN_TIMEOUT_SECONDS = 5;
export const MAX_TURN_TIMEOUT_SECONDS = 300;
export const DEFAULT_TURN_TIMEOUT_SECONDS = 60;

/** How long an n8n editor listens for a test event. */
export const TEST_LISTENING_MS = 120_000;

export const isListening = (test: AgentTestWebhook | null, now: Date): test is AgentTestWebhook =>
  test !== null && Date.parse(test.expiresAt) > now.getTime();

/** Where a turn is sent. */
export type TurnTarget = Pick<AgentWebhook, 'endpoint' | 'sealedSecret' | 'timeoutSeconds'>;

/** @returns where customers' turns go; null while no workflow is published */
export async function findTarget(tx: Tx, workspaceId: string): Promise<TurnTarget | null> {
  const webhook = await tx.agentWebhooks.peek(workspaceId);
  return webhook?.removedAt === null ? webhook : null;
}

/** @returns where turns of "Try it" go: to the editor that listens, else where customers' turns go */
export async function findTestTarget(
  tx: Tx,
  workspaceId: string,
  now: Date,
): Promise<TurnTarget | null> {
  const test = await tx.agentTestWebhooks.peek(workspaceId);
  if (isListening(test, now)) return { ...test, timeoutSeconds: DEFAULT_TURN_TIMEOUT_SECONDS };
  return findTarget(tx, workspaceId);
}
