import type { Contact } from '../conversations/contact.ts';
import type {
  Actor,
  Conversation,
  HandoverReason,
  Verdict,
  FunnelStage,
} from '../conversations/conversation.ts';
import type { InboxTab } from './inbox.ts';
import { contactDisplay } from '../platform/masking.ts';
import type { SenderType } from '../conversations/message.ts';
import type { SystemNote } from '../conversations/systemNote.ts';
import type { ToolCall, ToolCallStatus } from '../tools/calls/toolCall.ts';
import { badge } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';

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

const CALL_LABELS: Readonly<Record<ToolCallStatus, string>> = {
  pending_approval: 'needs approval',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
};

const CALL_TONES = { succeeded: 'good', failed: 'bad', pending_approval: 'attention' } as const;

export const callBadge = ({ status }: ToolCall): View =>
  badge(
    CALL_LABELS[status],
    status in CALL_TONES ? CALL_TONES[status as keyof typeof CALL_TONES] : '',
  );

export const SENDER_LABELS: Readonly<Record<SenderType, string>> = {
  customer: 'customer',
  agent: 'agent',
  team_member: 'team',
  api: 'API',
};

/** Why the agent handed a conversation over. */
const AGENT_REASONS: Partial<Record<HandoverReason, string>> = {
  customer_request: 'the customer asked for a person',
  missing_knowledge: 'it did not know the answer',
  tool_failure: 'a tool failed',
  agent_error: 'it ran into an error',
};

/** How the team sees a customer: unmasked. */
export const customerName = (contact: Contact): string =>
  contact.name ??
  (contact.phone === null ? null : `+${contact.phone}`) ??
  contact.email ??
  contactDisplay(contact);

/** Who has a conversation. @param takenByName the member's name; null when no member has it */
function whoHasIt({ status, handover }: Conversation, takenByName: string | null): string {
  if (status === 'ai_active') return 'With the agent';
  if (status === 'awaiting_human') return 'Waiting for a person';
  if (status === 'closed') return 'Closed';
  if (takenByName !== null) return `With ${takenByName}`;
  return handover?.triggeredBy.type === 'api'
    ? `With ${actorName(handover.triggeredBy)}`
    : 'With a person';
}

export const holderBadge = (conversation: Conversation, takenByName: string | null): View =>
  badge(
    html`<bdi>${whoHasIt(conversation, takenByName)}</bdi>`,
    conversation.status === 'awaiting_human' ? 'attention' : '',
  );

export const actorName = ({ type, name }: Actor): string =>
  type === 'api' ? `${name} (API)` : name;

/** `Ana took over`. */
export function noteInWords({ change, actor }: SystemNote): string {
  const who = actorName(actor);
  switch (change.type) {
    case 'handed_over': {
      const { reason, note } = change;
      if (reason === 'api_message') return `${who} sent a message and took over`;
      if (actor.type !== 'agent') return `${who} took over`;
      const details = note === null ? '' : ` (${note})`;
      return `${who} handed over to a person: ${AGENT_REASONS[reason] ?? reason}${details}`;
    }
    case 'handed_back':
      return `${who} handed back to the agent`;
    case 'closed':
      return `${who} closed the conversation`;
    case 'channel_note':
      return `The customer ${change.text}`;
    case 'stage_changed':
      return `${who} changed the stage from ${STAGE_LABELS[change.from]} to ${STAGE_LABELS[change.to]}`;
  }
}
