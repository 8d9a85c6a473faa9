import { customerName } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import { findLiveTools } from '../../tools/index.ts';
import type { AgentSettings } from '../agentSettings.ts';
import { isListening, type AgentTestWebhook, type AgentWebhook } from '../webhook/agentWebhook.ts';
import type { WebhookTurn } from '../webhook/webhookTurn.ts';
import { findAgentSettings } from './settings.ts';

/** How many of the workflow's turns the screen lists. */
const RECENT_TURNS = 10;

export interface RecentTurn {
  readonly turn: WebhookTurn;
  /** The customer's name; null for a test, and when the conversation was removed. */
  readonly customer: string | null;
}

/** All that the agent's screen shows. */
export interface AgentInDetail {
  readonly settings: AgentSettings;
  /** How many tools it can call. */
  readonly liveTools: number;
  /** The workflow that was last published as the agent; null when none ever was. */
  readonly webhook: AgentWebhook | null;
  /** The n8n editor that listens for a test event; null when none does. */
  readonly listening: AgentTestWebhook | null;
  /** Newest first. */
  readonly turns: readonly RecentTurn[];
  /** The turn of "Try it" to show; null for none. */
  readonly triedTurn: WebhookTurn | null;
}

/** @param turnId the turn of "Try it" to show; ignored when there is no such turn */
export const readAgent = (
  { store, clock }: Deps,
  { id: workspaceId }: Workspace,
  turnId: string | null,
) =>
  store.transaction(async (tx): Promise<AgentInDetail> => {
    const listening = await tx.agentTestWebhooks.peek(workspaceId);
    const tried = turnId === null ? null : await tx.webhookTurns.peek(turnId);
    return {
      settings: await findAgentSettings(tx, workspaceId),
      liveTools: (await findLiveTools(tx, workspaceId)).length,
      webhook: await tx.agentWebhooks.peek(workspaceId),
      listening: isListening(listening, clock.now()) ? listening : null,
      turns: await findRecentTurns(tx, workspaceId),
      triedTurn: tried?.workspaceId === workspaceId && tried.isTest ? tried : null,
    };
  });

async function findRecentTurns(tx: Tx, workspaceId: string): Promise<readonly RecentTurn[]> {
  const turns = await tx.webhookTurns.find({
    where: { workspaceId },
    direction: 'desc',
    limit: RECENT_TURNS,
  });
  const listed = [];
  for (const turn of turns) listed.push({ turn, customer: await findCustomer(tx, turn) });
  return listed;
}

async function findCustomer(tx: Tx, { conversationId }: WebhookTurn): Promise<string | null> {
  if (conversationId === null) return null;
  const conversation = await tx.conversations.peek(conversationId);
  const contact = conversation && (await tx.contacts.peek(conversation.contactId));
  return contact && customerName(contact);
}
