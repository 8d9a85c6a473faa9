import type { Contact } from '../../domain/contact.ts';
import type { Actor, Conversation, HandoverReason, Verdict } from '../../domain/conversation.ts';
import type { FunnelStage } from '../../domain/funnel.ts';
import type { InboxTab } from '../../domain/inbox.ts';
import { contactDisplay } from '../../domain/masking.ts';
import type { SenderType } from '../../domain/message.ts';
import type { ToolCallStatus } from '../../domain/toolCall.ts';

/** What the screens call things. */

export const TAB_LABELS: Readonly<Record<InboxTab, string>> = {
  all: 'All',
  agent: 'With the agent',
  waiting: 'Waiting for a person',
  mine: 'Mine',
  closed: 'Closed',
  approvals: 'Approvals',
};

export const STAGE_LABELS: Readonly<Record<FunnelStage, string>> = {
  new: 'New',
  engaged: 'Engaged',
  qualified: 'Qualified',
  payment_pending: 'Payment pending',
  customer: 'Customer',
  lost: 'Lost',
};

export const VERDICT_LABELS: Readonly<Record<Verdict, string>> = {
  goal_reached: 'Goal reached',
  goal_not_reached: 'Goal not reached',
  no_response: 'No response',
  not_relevant: 'Not relevant',
  unknown: 'Unknown',
};

export const CALL_LABELS: Readonly<Record<ToolCallStatus, string>> = {
  pending_approval: 'waits for approval',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
};

export const SENDER_LABELS: Readonly<Record<SenderType, string>> = {
  customer: 'customer',
  agent: 'agent',
  team_member: 'team',
  api: 'API',
};

/** Why the agent gave a conversation away. */
export const AGENT_REASONS: Partial<Record<HandoverReason, string>> = {
  customer_request: 'the customer asked for a person',
  missing_knowledge: 'it did not know the answer',
  tool_failure: 'a tool failed',
  agent_error: 'it could not go on',
};

/** Who a customer is to the team: in the clear. */
export const customerName = (contact: Contact): string =>
  contact.name ??
  (contact.phone === null ? null : `+${contact.phone}`) ??
  contact.email ??
  contactDisplay(contact);

/**
 * Who has a conversation, in a few words. @param takenByName the member's, null when none has it
 */
export function whoHasIt({ status, handover }: Conversation, takenByName: string | null): string {
  if (status === 'ai_active') return 'With the agent';
  if (status === 'awaiting_human') return 'Waiting for a person';
  if (status === 'closed') return 'Closed';
  if (takenByName !== null) return `With ${takenByName}`;
  return handover?.triggeredBy.type === 'api'
    ? `With ${actorName(handover.triggeredBy)}`
    : 'With a person';
}

export const actorName = ({ type, name }: Actor): string =>
  type === 'api' ? `${name} (API)` : name;
