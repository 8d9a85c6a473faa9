import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import type { From, Page, PageRequest } from '../../platform/http/page.ts';
import { searchPage, type Search } from '../../platform/http/searchPage.ts';
import { newId } from '../../platform/ids.ts';
import type { Tx } from '../../store/collections.ts';
import type { ApiKey, Workspace } from '../../team/index.ts';
import { isForgotten, WEB_CHAT, type Contact } from '../contact.ts';
import { findLastConversation } from '../operations/conversations.ts';
import type { ContactReveal } from './contactReveal.ts';
import { readContactSearch, shownMatcher, type ContactSearch } from './contactSearch.ts';
import { findByDetail, placeOf } from './findByDetail.ts';

/** A contact with the id of their newest conversation. */
export interface ContactView {
  readonly contact: Contact;
  readonly lastConversationId: string | null;
}

/**
 * Lists the workspace's contacts, newest first. Of those with a whole phone number or e-mail, the
 * ones that their channel verified come first.
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
      contactsOf(tx, workspace, search),
      limit,
      await startOf(tx, search, cursor),
    );
    const views = await Promise.all(items.map((contact) => viewOf(tx, contact)));
    return { items: views, nextCursor: next?.id ?? null };
  });

function contactsOf(tx: Tx, workspace: Workspace, search: ContactSearch | null): Search<Contact> {
  if (search !== null && !('text' in search))
    return { find: (query) => findByDetail(tx, workspace, search, query), positionOf: placeOf };
  const where = { workspaceId: workspace.id };
  const matches = search === null ? null : shownMatcher(search.text);
  return {
    find: (query) => tx.contacts.find({ where, direction: 'desc', ...query }),
    positionOf: ({ id }) => ({ value: id, id }),
    matching: (contacts) =>
      Promise.resolve(
        contacts.filter((contact) => !isForgotten(contact) && (matches?.(contact) ?? true)),
      ),
  };
}

/** A cursor is the id of the last contact. One that was removed since counts as a web chat's. */
async function startOf(tx: Tx, search: ContactSearch | null, cursor: string | null): Promise<From> {
  if (cursor === null) return {};
  if (search === null || 'text' in search) return { after: { value: cursor, id: cursor } };
  const { channel = WEB_CHAT } = (await tx.contacts.peek(cursor)) ?? {};
  return { after: placeOf({ channel, id: cursor }) };
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
