import {
  emitEvent,
  isForgotten,
  type Contact,
  type Conversation,
  type ConversationView,
} from '../../conversations/index.ts';
import type { Tx } from '../../store/collections.ts';
import { decisionJson } from '../../platform/decision.ts';
import { maskJson, maskText } from '../../platform/masking.ts';
import { countApproval } from '../counted.ts';
import type { ToolCall } from './toolCall.ts';

/** How an approval stands: it waits, was decided, or ended without a decision. */
export const APPROVAL_STATUSES = [
  'waiting',
  'approved',
  'rejected',
  'expired',
  'cancelled',
] as const;
type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** The approval of a tool call in an event's payload, contact details masked. */
export const approvalPayload = (call: ToolCall, contact: Contact) => ({
  tool_call_id: call.id,
  tool: call.tool,
  arguments: maskJson(call.arguments, contact) as Record<string, unknown>,
  status: statusOf(call),
  decision: call.decision && decisionJson(call.decision, (text) => maskText(text, contact)),
  requested_at: call.createdAt,
  expires_at: call.expiresAt,
});

function statusOf({ status, decision }: ToolCall): ApprovalStatus {
  if (decision !== null) return decision.approved ? 'approved' : 'rejected';
  if (status === 'pending_approval') return 'waiting';
  return status === 'expired' ? 'expired' : 'cancelled';
}

/** Emits that a call begins to wait for approval. */
export async function emitRequested(
  tx: Tx,
  call: ToolCall,
  view: ConversationView,
  now: Date,
): Promise<void> {
  await countApproval(tx, requestOf(call), ['tool', 'requested'], now);
  const approval = approvalPayload(call, view.contact);
  await emitEvent(tx, { name: 'approval.requested', approval }, view, now);
}

const requestOf = ({ workspaceId, createdAt }: ToolCall) => ({ workspaceId, since: createdAt });

/**
 * Emits that a call no longer waits for approval, whether it was decided or not, so that a workflow
 * that asked for a decision elsewhere, such as in Slack, can withdraw the question. About a forgotten
 * contact nothing is emitted: what would have to be masked is no longer known.
 * @param call as it is after the decision, or after the end of the wait
 */
export async function emitDecided(
  tx: Tx,
  call: ToolCall,
  conversation: Conversation,
  now: Date,
): Promise<void> {
  const status = statusOf(call);
  if (status !== 'waiting') await countApproval(tx, requestOf(call), ['tool', status], now);
  const workspace = await tx.workspaces.peek(conversation.workspaceId);
  const contact = await tx.contacts.peek(conversation.contactId);
  if (!workspace || !contact || isForgotten(contact)) return;
  const approval = approvalPayload(call, contact);
  await emitEvent(
    tx,
    { name: 'approval.decided', approval },
    { workspace, contact, conversation },
    now,
  );
}
