import { maskedDetails } from '../../platform/masking.ts';
import { contactName } from '../payload.ts';
import type { ContactView } from './contacts.ts';

/** A contact as the API shows it: details masked. */
export function contactJson({ contact, lastConversationId }: ContactView) {
  const { phone, email } = maskedDetails(contact);
  return {
    id: contact.id,
    name: contact.name === null ? null : contactName(contact),
    phone_masked: phone,
    email_masked: email,
    channel: contact.channel,
    channel_account: contact.channelAccount ?? null,
    verified: contact.verified,
    last_conversation_id: lastConversationId,
    created_at: contact.createdAt,
  };
}

/** A contact with the details in the clear, for a key that may see them. */
export const revealedContactJson = (view: ContactView) => ({
  ...contactJson(view),
  name: view.contact.name,
  phone: view.contact.phone === null ? null : `+${view.contact.phone}`,
  email: view.contact.email,
});
