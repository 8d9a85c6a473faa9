import type { Contact } from './contact.ts';
import type { Message } from './message.ts';
import { maskedDetails, maskText } from '../platform/masking.ts';
import type { SystemNote } from './systemNote.ts';
import type { ConversationView } from './operations/conversations.ts';
import { conversationPayload, handoverPayload, messagePayload, outcomePayload } from './payload.ts';

/** The conversation record of the API. */
export function conversationJson(view: ConversationView) {
  const { conversation, contact, workspace } = view;
  const payload = conversationPayload(conversation, contact, workspace);
  return {
    ...payload,
    channel_account: contact.channelAccount ?? null,
    contact: contactJson(contact, payload.contact_name),
    outcome: conversation.outcome && outcomePayload(conversation.outcome, contact),
    handover: conversation.handover && handoverPayload(conversation.handover, contact),
    qualified_at: conversation.qualifiedAt,
    previous_conversation_id: conversation.previousConversationId,
    assignee: conversation.assignee ?? null,
    pending_approvals: conversation.pendingApprovals,
    created_at: conversation.createdAt,
    updated_at: conversation.updatedAt,
    closed_at: conversation.closedAt,
  };
}

const contactJson = (contact: Contact, maskedName: string) => {
  const { phone, email } = maskedDetails(contact);
  return {
    id: contact.id,
    name: contact.name === null ? null : maskedName,
    phone_masked: phone,
    email_masked: email,
  };
};

export const conversationWithMessagesJson = (
  view: ConversationView & { messages: readonly Message[] },
) => ({
  ...conversationJson(view),
  messages: view.messages.map((message) => messageJson(message, view.contact)),
});

/** A note for the team: its change is always a `team_note`. */
export const noteJson = ({ note, contact }: ConversationView & { note: SystemNote }) => ({
  id: note.id,
  conversation_id: note.conversationId,
  text: note.change.type === 'team_note' ? maskText(note.change.text, contact) : '',
  created_by: { type: note.actor.type, name: maskText(note.actor.name, contact) },
  created_at: note.createdAt,
});

/**
 * A message in the API's answers: what event payloads show of it, what decided its text, and its
 * delivery state.
 */
export const messageJson = (message: Message, contact: Contact) => ({
  ...messagePayload(message, contact),
  decided_by: message.decidedBy ?? null,
  delivery: message.delivery ?? null,
});
