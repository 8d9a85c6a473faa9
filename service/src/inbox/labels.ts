import {
  type Conversation,
  type ConversationStatus,
  type DecidedBy,
  type HandoverReason,
  type Verdict,
  type SenderType,
  type SystemNote,
  actorName,
  isCustomerWaiting,
  STAGE_LABELS,
} from '../conversations/index.ts';
import type { InboxTab } from './tabs.ts';
import { html, type View } from '../platform/html/html.ts';

export const TAB_LABELS: Readonly<Record<InboxTab, string>> = {
  all: 'All',
  agent: 'Agent',
  waiting: 'Waiting',
  mine: 'Mine',
  closed: 'Closed',
  approvals: 'Approvals',
};

export const STATUS_LABELS: Readonly<Record<ConversationStatus, string>> = {
  ai_active: 'With the agent',
  awaiting_human: 'Waiting for a person',
  human_active: 'With a person',
  closed: 'Closed',
};

export const VERDICT_LABELS: Readonly<Record<Verdict, string>> = {
  goal_reached: 'Goal reached',
  goal_not_reached: 'Goal not reached',
  no_response: 'No response',
  not_relevant: 'Not relevant',
  unknown: 'Unknown',
};

export const SENDER_LABELS: Readonly<Record<SenderType, string>> = {
  customer: 'customer',
  agent: 'agent',
  team_member: 'team',
  api: 'API',
};

/** What decided a message of the agent. */
export const DECIDED_BY_LABELS: Readonly<Record<DecidedBy, string>> = {
  keyword: 'From the keyword agent',
  language_model: 'From the language model',
  webhook: 'From the workflow',
};

/** Why the agent handed a conversation over. */
const AGENT_REASONS: Partial<Record<HandoverReason, string>> = {
  customer_request: 'the customer asked for a person',
  missing_knowledge: 'it did not know the answer',
  tool_failure: 'a tool failed',
  agent_error: 'it ran into an error',
};

/**
 * The name of the member or API key that answers in place of the agent; null when it is unknown.
 * @param takenByName the member's name; null when no member has the conversation
 */
export const holderName = ({ handover }: Conversation, takenByName: string | null) =>
  takenByName ?? (handover?.triggeredBy.type === 'api' ? actorName(handover.triggeredBy) : null);

/** The status of a conversation, with the name of the person who answers in it. */
export function holderStatus(conversation: Conversation, takenByName: string | null): View {
  const status = shownStatus(conversation);
  const name = status === 'human_active' ? holderName(conversation, takenByName) : null;
  const words = name === null ? STATUS_LABELS[status] : `With ${name}`;
  return html`<span class=${`status status-${STATUS_ROLES[status]}`}><bdi>${words}</bdi></span>`;
}

/**
 * The status to show. A customer who wrote while the agent was off waits for a person, although the
 * conversation was not handed over.
 */
const shownStatus = (conversation: Conversation): ConversationStatus =>
  conversation.status === 'ai_active' && isCustomerWaiting(conversation)
    ? 'awaiting_human'
    : conversation.status;

const STATUS_ROLES: Readonly<Record<ConversationStatus, string>> = {
  ai_active: 'quiet',
  awaiting_human: 'warning',
  human_active: 'accent',
  closed: 'quiet',
};

/** A note of the thread as a sentence: `Ana took over`. */
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
    case 'team_note':
      return `${who} noted: ${change.text}`;
    case 'channel_note':
      return `The customer ${change.text}`;
    case 'assigned':
      return assignmentInWords(who, actor.memberId, change);
    case 'stage_changed':
      return `${who} changed the stage from ${STAGE_LABELS[change.from]} to ${STAGE_LABELS[change.to]}`;
  }
}

/** `Ana assigned this to Ben`. @param byId of the member who did it; undefined for an API key */
function assignmentInWords(
  who: string,
  byId: string | undefined,
  { from, to }: Extract<SystemNote['change'], { type: 'assigned' }>,
): string {
  if (to !== null) return `${who} assigned this to ${to.id === byId ? 'themselves' : to.name}`;
  return `${who} unassigned ${from?.id === byId ? 'themselves' : from?.name}`;
}
