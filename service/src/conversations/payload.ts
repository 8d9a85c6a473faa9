import { timestamp } from '../platform/clock.ts';
import type { Tx } from '../store/collections.ts';
import type { Contact } from './contact.ts';
import type { Conversation, Handover, Outcome, FunnelStage } from './conversation.ts';
import type { Actor } from '../platform/actor.ts';
import { emit, type EventFacts } from '../deliveries/index.ts';
import { contactDisplay, maskId, maskName, maskText } from '../platform/masking.ts';
import type { Message, Sender } from './message.ts';
import type { Workspace } from '../team/index.ts';

/**
 * The wire form of conversations and what belongs to them, contact details masked. Event payloads
 * and API answers are both made here, so that neither can show what the other hides.
 * @see docs/events-and-signatures.md, "The payload"
 */

/** The customer's name, or an empty text when none is known. */
export const contactName = (contact: Contact) =>
  contact.name === null ? '' : maskName(maskText(contact.name, contact));

export const conversationPayload = (
  conversation: Conversation,
  contact: Contact,
  workspace: Workspace,
) => ({
  id: conversation.id,
  agent_id: workspace.agentId,
  channel: conversation.channel,
  contact_display: contactDisplay(contact),
  contact_name: contactName(contact),
  status: conversation.status,
  funnel_stage: conversation.funnelStage,
  message_count: conversation.messageCount,
});

const senderPayload = (sender: Sender, contact: Contact) => ({
  type: sender.type,
  name: sender.type === 'customer' ? contactName(contact) : maskText(sender.name, contact),
});

const actorPayload = (actor: Actor, contact: Contact) => ({
  type: actor.type,
  name: maskText(actor.name, contact),
});

export const messagePayload = (message: Message, contact: Contact) => ({
  id: message.id,
  direction: message.direction,
  sender: senderPayload(message.sender, contact),
  type: 'text' as const,
  text: maskText(message.text, contact),
  channel_message_id:
    message.channelMessageId === null ? null : maskId(message.channelMessageId, contact),
  created_at: message.createdAt,
  ...(message.waitId === undefined ? {} : { wait_id: message.waitId }),
});

export const outcomePayload = (outcome: Outcome, contact: Contact) => ({
  verdict: outcome.verdict,
  summary: maskText(outcome.summary, contact),
  closed_by: actorPayload(outcome.closedBy, contact),
  closed_at: outcome.closedAt,
});

export const handoverPayload = (handover: Handover, contact: Contact) => ({
  reason: handover.reason,
  note: handover.note === null ? null : maskText(handover.note, contact),
  triggered_by: actorPayload(handover.triggeredBy, contact),
  at: handover.at,
});

/** What an event contains besides the conversation. */
export type EventDetail =
  | { readonly name: 'conversation.opened' }
  | { readonly name: 'conversation.qualified'; readonly previousStage: FunnelStage }
  | {
      readonly name: 'conversation.handed_over' | 'conversation.awaiting_human';
      readonly handover: Handover;
    }
  | { readonly name: 'conversation.closed'; readonly outcome: Outcome }
  | { readonly name: 'message.received' | 'message.sent'; readonly message: Message }
  /** `payment` in its wire form, which payments/ makes. */
  | { readonly name: 'payment.paid'; readonly payment: object }
  /** `approval` in its wire form, which tools/ makes. */
  | { readonly name: 'approval.requested' | 'approval.decided'; readonly approval: object };

function detailPayload(detail: EventDetail, conversation: Conversation, contact: Contact) {
  switch (detail.name) {
    case 'conversation.opened':
      return {};
    case 'conversation.qualified':
      return { funnel: { stage: conversation.funnelStage, previous_stage: detail.previousStage } };
    case 'conversation.handed_over':
    case 'conversation.awaiting_human':
      return { handover: handoverPayload(detail.handover, contact) };
    case 'conversation.closed':
      return { outcome: outcomePayload(detail.outcome, contact) };
    case 'message.received':
    case 'message.sent':
      return { message: messagePayload(detail.message, contact) };
    case 'payment.paid':
      return { payment: detail.payment };
    case 'approval.requested':
    case 'approval.decided':
      return { approval: detail.approval };
  }
}

/** A whole event payload, ready to be serialized. */
export const eventPayload = (
  id: string,
  detail: EventDetail,
  about: { workspace: Workspace; conversation: Conversation; contact: Contact },
  at: Date,
) => ({
  id,
  event: detail.name,
  occurred_at: timestamp(at),
  workspace: about.workspace.slug,
  conversation: conversationPayload(about.conversation, about.contact, about.workspace),
  ...detailPayload(detail, about.conversation, about.contact),
});

const factsOf = (detail: EventDetail, conversation: Conversation): EventFacts => ({
  channel: conversation.channel,
  status: conversation.status,
  funnelStage: conversation.funnelStage,
  ...('message' in detail ? messageFacts(detail.message) : {}),
});

/**
 * What filters see of a message. A workflow that starts on messages must not start itself by asking
 * the customer: the question counts as sent by the API, even if it has the agent's name, and the
 * customer's reply counts as an answer.
 */
const messageFacts = ({ direction, sender, waitId }: Message): EventFacts => {
  const belongsToWait = waitId !== undefined;
  return direction === 'inbound'
    ? { sender: sender.type, receivedAs: belongsToWait ? 'answer' : 'message' }
    : { sender: belongsToWait ? 'api' : sender.type };
};

/** Emits an event about a conversation, in the caller's transaction. */
export const emitEvent = (
  tx: Tx,
  detail: EventDetail,
  about: { workspace: Workspace; conversation: Conversation; contact: Contact },
  now: Date,
): Promise<void> =>
  emit(
    tx,
    {
      workspaceId: about.workspace.id,
      name: detail.name,
      conversationId: about.conversation.id,
      contactId: about.contact.id,
      facts: factsOf(detail, about.conversation),
      payload: (id) => eventPayload(id, detail, about, now),
    },
    now,
  );
