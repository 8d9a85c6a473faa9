import { paymentLinkPolicyOf, type AgentSettings } from '../agentSettings.ts';
import {
  paymentLinkResult,
  readPaymentLink,
  complete,
  refuse,
  succeed,
  type ToolCall,
} from '../../tools/index.ts';
import type { Tx } from '../../store/collections.ts';
import {
  type Conversation,
  loadConversation,
  type ConversationView,
} from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { putPaymentLink, paymentPageUrl } from '../../payments/index.ts';
import { findAgentSettings } from '../operations/settings.ts';

/**
 * Makes the payment link that a call of the agent asks for, in the caller's transaction: after a
 * crash there are both the link and the completed call, or neither.
 * @returns the completed call: succeeded, failed with the reason in words, or cancelled when it is
 * no longer wanted
 */
export async function makePaymentLink(
  tx: Tx,
  deps: Deps,
  call: ToolCall,
  now: Date,
): Promise<ToolCall> {
  const view = await findView(tx, call);
  const settings = await findAgentSettings(tx, call.workspaceId);
  if (!view || !isStillWanted(call, view.conversation, settings))
    return complete(call, 'cancelled', now);
  const read = readPaymentLink(call.arguments, call.provider!);
  if (read.problem !== null) return refuse(call, read.problem, now);
  try {
    const wanted = { ...read.request, provider: call.provider };
    const actor = { type: 'agent', name: settings.name } as const;
    const payment = await putPaymentLink(tx, deps, view, wanted, actor, now);
    const result = paymentLinkResult(payment, call.arguments, paymentPageUrl(deps, payment));
    return succeed(call, result, now);
  } catch (error) {
    // putPaymentLink refuses before it writes anything, so the transaction can go on.
    if (error instanceof AppError) return refuse(call, error.message, now);
    throw error;
  }
}

async function findView(
  tx: Tx,
  { workspaceId, conversationId }: ToolCall,
): Promise<ConversationView | null> {
  const workspace = await tx.workspaces.peek(workspaceId);
  return workspace && conversationId !== null
    ? loadConversation(tx, workspace, conversationId)
    : null;
}

/**
 * Whether the link may still be made: links are on, and either a person approved this one, or the
 * agent may make links alone, is in control, and the customer has written nothing since.
 */
const isStillWanted = (
  call: ToolCall,
  { status, controlEpoch }: Conversation,
  settings: AgentSettings,
): boolean =>
  paymentLinkPolicyOf(settings) !== 'off' &&
  (call.decision?.approved === true ||
    (paymentLinkPolicyOf(settings) === 'allow' &&
      status === 'ai_active' &&
      controlEpoch === call.controlEpoch));
