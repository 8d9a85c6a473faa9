import type { Deps } from '../../platform/deps.ts';
import { newestFirst, type Page, type PageRequest } from '../../platform/http/page.ts';
import type { Tx } from '../../store/collections.ts';
import { isForgotten, type Contact } from '../contact.ts';
import { findLastConversation } from '../operations/conversations.ts';
import type { ContactReveal } from './contactReveal.ts';

/** A record of a reveal, with the contact and the id of their newest conversation if it is shown. */
export interface RevealView {
  readonly reveal: ContactReveal;
  readonly contact: Contact;
  readonly conversationId: string | null;
}

/**
 * Which contacts' details a key has read, newest first. Removing a contact removes these records
 * too.
 */
export const listReveals = ({ store }: Pick<Deps, 'store'>, apiKeyId: string, page: PageRequest) =>
  store.transaction(async (tx): Promise<Page<RevealView>> => {
    const { items, nextCursor } = await newestFirst(tx.contactReveals, { apiKeyId }, page);
    const views = await Promise.all(items.map((reveal) => viewOf(tx, reveal)));
    return { items: views.filter((view) => view !== null), nextCursor };
  });

async function viewOf(tx: Tx, reveal: ContactReveal): Promise<RevealView | null> {
  const contact = await tx.contacts.peek(reveal.contactId);
  if (!contact) return null;
  const conversation = isForgotten(contact) ? null : await findLastConversation(tx, contact.id);
  const conversationId = conversation?.id ?? null;
  return { reveal, contact, conversationId };
}
