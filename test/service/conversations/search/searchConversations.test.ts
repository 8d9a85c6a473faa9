// Search in everything that was said, on the tests' store.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeOldConversations } from '../../../../service/src/app/retention/removeOldConversations.ts';
import type { Contact } from '../../../../service/src/conversations/contact.ts';
import {
  openConversation,
  type Conversation,
} from '../../../../service/src/conversations/conversation.ts';
import type { Message } from '../../../../service/src/conversations/message.ts';
import {
  searchConversations,
  type ConversationSearch,
} from '../../../../service/src/conversations/search/searchConversations.ts';
import { systemClock, timestamp } from '../../../../service/src/platform/clock.ts';
import { newId } from '../../../../service/src/platform/ids.ts';
import type { ServiceStore } from '../../../../service/src/store/collections.ts';
import { createWorkspace } from '../../../../service/src/team/operations/team.ts';
import type { Position } from '../../../../service/src/platform/http/searchPage.ts';
import { openFreshStore, type FreshStore } from '../../../helpers/openStore.ts';

describe('search in what was said', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let workspaceId: string;
  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    workspaceId = (await createWorkspace({ store, clock: systemClock }, 'Test')).id;
  });
  afterEach(() => fresh.remove());

  const contactOf = (name: string, parts: Partial<Contact> = {}): Contact => ({
    id: newId('ctc'),
    workspaceId,
    channel: 'web_chat',
    name,
    phone: null,
    email: null,
    verified: false,
    createdAt: timestamp(new Date()),
    ...parts,
  });

  /** A conversation that was opened and last changed now. */
  const conversationWith = (contact: Contact, parts: Partial<Conversation> = {}): Conversation => ({
    ...openConversation(
      {
        id: newId('conv'),
        workspaceId: contact.workspaceId,
        contactId: contact.id,
        channel: 'web_chat',
        previousConversationId: null,
      },
      new Date(),
    ),
    ...parts,
  });

  const messageOf = (conversation: Conversation, number: number, text: string): Message => ({
    id: newId('msg'),
    workspaceId: conversation.workspaceId,
    conversationId: conversation.id,
    contactId: conversation.contactId,
    number,
    direction: 'inbound',
    sender: { type: 'customer', name: 'Customer' },
    text,
    channelMessageId: null,
    createdAt: timestamp(new Date()),
  });

  /** Stores a conversation with these messages. */
  const say = (
    texts: readonly string[],
    contact = contactOf('Customer'),
    parts: Partial<Conversation> = {},
  ) =>
    store.transaction(async (tx) => {
      const conversation = conversationWith(contact, { messageCount: texts.length, ...parts });
      await tx.contacts.put(contact);
      await tx.conversations.put(conversation);
      const messages = texts.map((text, at) => messageOf(conversation, at + 1, text));
      for (const message of messages) await tx.messages.put(message);
      return { id: conversation.id, contact, conversation, messages };
    });

  const search = (typed: string, rest: Partial<ConversationSearch> = {}) =>
    store.transaction((tx) =>
      searchConversations(tx, {
        workspaceId,
        typed,
        fields: [{}],
        onlyWaiting: false,
        after: null,
        limit: 50,
        ...rest,
      }),
    );
  const idsFound = async (typed: string) =>
    (await search(typed)).items.map(({ conversation }) => conversation.id);
  const found = async (typed: string, rest?: Partial<ConversationSearch>) =>
    (await search(typed, rest)).items.map(({ message, conversation }) => [
      conversation.id,
      message?.text ?? null,
    ]);

  it('finds each conversation once, by its newest match, the newest first', async () => {
    const first = await say(['my parcel', 'the parcel is late', 'hello?']);
    const second = await say(['A parcel for me']);
    await say(['nothing of that']);
    expect(await found('parcel')).toEqual([
      [second.id, 'A parcel for me'],
      [first.id, 'the parcel is late'],
    ]);
    expect(await found('PARCEL my')).toEqual([[first.id, 'my parcel']]);
    expect(await found('parcel nothing')).toEqual([]);
  });

  it('finds contacts by name, phone and e-mail, in the order of their last change', async () => {
    const maria = contactOf('María López', { phone: '5491155550134', email: 'm@example.com' });
    const hers = await say(['no word of it'], maria);
    const other = await say(['please ask maria', 'or call +54 9 11 5555-0134, m@example.com']);
    const earlier = timestamp(new Date(Date.now() - 60_000));
    for (const typed of ['maria', '011 5555 0134', '0134', 'm@example.com']) {
      await store.transaction((tx) => tx.conversations.put(hers.conversation));
      expect(await idsFound(typed)).toContain(other.id);
      await store.transaction((tx) =>
        tx.conversations.put({ ...hers.conversation, updatedAt: earlier }),
      );
      expect(await idsFound(typed)).toEqual([other.id, hers.id]);
    }
    expect(await found('maria lopez')).toEqual([[hers.id, null]]);
  });

  it('pages through names and words together, each conversation once', async () => {
    const wanted: string[] = [];
    for (let i = 0; i < 30; i += 1) {
      const said = await say(['parcel 1', 'and', 'parcel 2', 'parcel 3'], contactOf(`Ana ${i}`));
      const named = await say(['parcel', 'x'], contactOf('Parcel'));
      wanted.unshift(named.id, said.id);
    }
    for (const limit of [7, 60, 100]) {
      const seen: string[] = [];
      let after: Position | null = null;
      do {
        const page: Awaited<ReturnType<typeof search>> = await search('parcel', { after, limit });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...page.items.map(({ conversation }) => conversation.id));
        after = page.next;
      } while (after !== null);
      expect([...seen].sort()).toEqual([...wanted].sort());
    }
  });

  it('finds the conversations of a name that very many contacts have', async () => {
    await Promise.all(Array.from({ length: 210 }, () => say([], contactOf('Hay'))));
    const said = await say(['hay']);
    const { items, next } = await search('hay', { limit: 200 });
    expect(items[0]).toMatchObject({ conversation: { id: said.id } });
    expect(items).toHaveLength(200);
    expect((await search('hay', { limit: 200, after: next })).items).toHaveLength(11);
  });

  it('keeps to the fields that are asked for, and to the workspace', async () => {
    const open = await say(['parcel']);
    const closed = await say(['parcel'], contactOf('Parcel'), { status: 'closed' });
    await say(['parcel'], contactOf('Parcel', { workspaceId: 'ws_other' }));
    expect((await idsFound('parcel')).sort()).toEqual([open.id, closed.id]);
    expect(await found('parcel', { fields: [{ status: 'closed' }] })).toEqual([[closed.id, null]]);
    expect(await found('parcel', { fields: [{ status: 'ai_active' }] })).toEqual([
      [open.id, 'parcel'],
    ]);
    expect(await found('parcel', { fields: [{ takenBy: 'mbr_x' }] })).toEqual([]);
  });

  it('forgets what is removed, and a name that is changed', async () => {
    const old = await say(['parcel of old'], contactOf('Ana'), { updatedAt: '2020' });
    const kept = await say(['parcel that stays'], contactOf('Ana'));
    expect(await found('parcel')).toHaveLength(2);
    expect(await removeOldConversations({ store }, '2021', new Date())).toBe(1);
    expect(await idsFound('parcel')).toEqual([kept.id]);
    expect(await idsFound('ana')).toEqual([kept.id]);
    await store.transaction((tx) => tx.contacts.put({ ...kept.contact, name: 'Bea' }));
    expect(await found('ana')).toEqual([]);
    expect(await found('bea')).toHaveLength(1);
    expect(await store.transaction((tx) => tx.messages.peek(old.messages[0]!.id))).toBeNull();
  });
});
