import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../service/src/platform/clock.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import {
  type Conversation,
  openConversation,
} from '../../../service/src/conversations/conversation.ts';
import { newId } from '../../../service/src/platform/ids.ts';
import { readPosition, writePosition } from '../../../service/src/inbox/links.ts';
import { createMember, createWorkspace } from '../../../service/src/team/operations/team.ts';
import { NO_FILTER } from '../../../service/src/inbox/filter.ts';
import {
  INBOX_PAGE,
  type InboxPlace,
  MAX_COUNTED,
  listInbox,
} from '../../../service/src/inbox/listInbox.ts';
import { MAX_SEARCHED } from '../../../service/src/platform/http/searchPage.ts';
import type { Member } from '../../../service/src/team/workspace.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';

const BEYOND = 300;

describe('the team’s list, with more conversations than one search looks at', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let member: Member;

  beforeAll(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    const deps = { store, clock: systemClock };
    member = await createMember(deps, await createWorkspace(deps, 'Test'), {
      name: 'Ana',
      email: 'ana@example.com',
      passwordHash: 'x',
    });
    const { workspaceId } = member;
    await store.transaction(async (tx) => {
      for (let i = 0; i < MAX_SEARCHED + BEYOND; i += 1) {
        // several at the same time
        const now = new Date(Date.UTC(2026, 0, 1) + Math.floor(i / 3) * 1000);
        const contact = {
          id: newId('ctc'),
          workspaceId,
          channel: 'web_chat',
          name: i < 2 ? 'Needle' : 'Hay',
          phone: i < 2 ? `549115555017${i}` : null,
          email: null,
          verified: false,
          createdAt: '',
        } as const;
        await tx.contacts.put(contact);
        const opened = openConversation(
          {
            id: newId('conv'),
            workspaceId,
            contactId: contact.id,
            channel: 'web_chat',
            previousConversationId: null,
          },
          now,
        );
        const waitingSince = opened.createdAt;
        await tx.conversations.put({ ...opened, status: 'awaiting_human', waitingSince });
      }
    });
  });
  afterAll(async () => {
    await fresh?.remove();
  });

  const list = (query: Partial<InboxPlace>) =>
    listInbox({ store }, member, {
      tab: 'all',
      search: '',
      filter: NO_FILTER,
      after: null,
      ...query,
    });

  it('a search by name finds what is far behind', async () => {
    const found = await list({ search: 'needle' });
    expect(found).toMatchObject({
      items: [{ contact: { name: 'Needle' } }, { contact: { name: 'Needle' } }],
      stoppedEarly: false,
      next: null,
    });
  });

  it('a search by masked label stops, says so, and goes on where it stopped', async () => {
    const search = '+54•••••••••7';
    const first = await list({ search });
    expect(first).toMatchObject({ items: [], stoppedEarly: true });
    const second = await list({ search, after: first.next });
    expect(second).toMatchObject({
      items: [{ contact: { name: 'Needle' } }, { contact: { name: 'Needle' } }],
      stoppedEarly: false,
      next: null,
    });
  });

  it('pages of what waits hold each conversation once, the longest waiting first, also those of the same moment, and a position survives being written as text', async () => {
    const seen = new Set<string>();
    let previousSince = '';
    let after = null;
    for (let page = 0; page < 5; page += 1) {
      const inbox = await list({ tab: 'waiting', after });
      expect(inbox.items).toHaveLength(INBOX_PAGE);
      for (const { conversation } of inbox.items) {
        seen.add(conversation.id);
        expect(conversation.waitingSince! >= previousSince).toBe(true);
        previousSince = conversation.waitingSince!;
      }
      expect(readPosition(writePosition(inbox.next!))).toEqual(inbox.next);
      after = inbox.next;
    }
    expect(seen.size).toBe(5 * INBOX_PAGE);
  });

  it('a search fills its page and says where the next one begins', async () => {
    const inbox = await list({ search: 'hay' });
    expect(inbox).toMatchObject({ stoppedEarly: false });
    expect(inbox.items).toHaveLength(INBOX_PAGE);
    const next = await list({ search: 'hay', after: inbox.next });
    expect(next.items[0]!.conversation.id).not.toBe(inbox.items.at(-1)!.conversation.id);
  });

  it('what is mine is what I took over or am assigned to and is open, each once, the last changed first', async () => {
    const mine = { takenBy: member.id, status: 'human_active' } as const;
    const assigned = { assigneeId: member.id } as const;
    const kinds = [mine, assigned, { ...mine, ...assigned }, { ...assigned, status: 'closed' }];
    const wanted = 3 * INBOX_PAGE;
    await store.transaction(async (tx) => {
      const found = await tx.conversations.find({
        where: { workspaceId: member.workspaceId },
        limit: (wanted / 3) * kinds.length,
      });
      for (const [at, conversation] of found.entries())
        await tx.conversations.put({
          ...conversation,
          ...kinds[at % kinds.length],
        } as Conversation);
    });
    const seen: string[] = [];
    let last = '9';
    let after = null;
    do {
      const inbox = await list({ tab: 'mine', after });
      for (const { conversation } of inbox.items) {
        seen.push(conversation.id);
        expect(conversation.updatedAt <= last).toBe(true);
        last = conversation.updatedAt;
      }
      after = inbox.next;
    } while (after !== null);
    expect(seen).toHaveLength(wanted);
    expect(new Set(seen).size).toBe(wanted);
    const searched = await list({ tab: 'mine', search: 'needle' });
    expect(searched.items).toHaveLength(2);
    const others = { ...NO_FILTER, assignee: 'mbr_01JXXXXXXXXXXXXXXXXXXXXXXX' };
    expect((await list({ tab: 'mine', filter: others })).items).toEqual([]);
    // Tabs are counted up to MAX_COUNTED.
    const { counts } = await list({});
    expect(counts).toMatchObject({ waiting: MAX_COUNTED, mine: MAX_COUNTED, approvals: 0 });
  });
});
