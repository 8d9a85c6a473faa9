import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { searchPage } from '../../platform/http/searchPage.ts';
import { newId } from '../../platform/ids.ts';
import type { Tx } from '../../store/collections.ts';
import type { ApiKey, Workspace } from '../../team/index.ts';
import { isForgotten, type Contact } from '../contact.ts';
import { findLastConversation } from '../operations/conversations.ts';
import type { ContactReveal } from './contactReveal.ts';
import { readContactSearch, shownMatcher, type ContactSearch } from './contactSearch.ts';

/** A contact with the id of their newest conversation. */
export interface ContactView {
  readonly contact: Contact;
  readonly lastConversationId: string | null;
}

/**
 * Lists the workspace's contacts, newest first.
 * @param q as `readContactSearch` takes it; empty for all
 */
export const listContacts = (
  { store }: Deps,
  workspace: Workspace,
  q: string,
  { limit, cursor }: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<ContactView>> => {
    const search = q.trim() === '' ? null : readContactSearch(q);
    const { items, next } = await searchPage(
      { ...contactsOf(tx, workspace, search), positionOf: ({ id }) => ({ value: id, id }) },
      limit,
      cursor === null ? {} : { after: { value: cursor, id: cursor } },
    );
    const views = await Promise.all(items.map((contact) => viewOf(tx, contact)));
    return { items: views, nextCursor: next?.id ?? null };
  });

function contactsOf(tx: Tx, { id: workspaceId }: Workspace, search: ContactSearch | null) {
  const isText = search !== null && 'text' in search;
  const where = { workspaceId, ...(isText ? {} : search) };
  const matches = isText ? shownMatcher(search.text) : null;
  return {
    find: (query: { limit: number }) => tx.contacts.find({ where, direction: 'desc', ...query }),
    matching: (contacts: readonly Contact[]) =>
      Promise.resolve(
        contacts.filter((contact) => !isForgotten(contact) && (matches?.(contact) ?? true)),
      ),
  };
}

/** @throws not_found (404), also for another workspace's contact */
export const getContact = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction((tx) => peekContact(tx, workspace, id));

/**
 * Gets a contact whose details are going to be shown in the clear, and records who reads them.
 * @throws not_found (404)
 */
export const revealContact = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  by: Pick<ApiKey, 'id' | 'name'>,
) =>
  store.transaction(async (tx): Promise<ContactView> => {
    const view = await peekContact(tx, workspace, id);
    const reveal: ContactReveal = {
      id: newId('rvl'),
      workspaceId: workspace.id,
      contactId: id,
      apiKeyId: by.id,
      apiKeyName: by.name,
      createdAt: timestamp(clock.now()),
    };
    await tx.contactReveals.put(reveal);
    return view;
  });

async function peekContact(tx: Tx, workspace: Workspace, id: string): Promise<ContactView> {
  const contact = await tx.contacts.peek(id);
  if (contact?.workspaceId !== workspace.id || isForgotten(contact)) throw notFound('contact', id);
  return viewOf(tx, contact);
}

const viewOf = async (tx: Tx, contact: Contact): Promise<ContactView> => ({
  contact,
  lastConversationId: (await findLastConversation(tx, contact.id))?.id ?? null,
});
