// Which conversations are removed first when room is needed, and which stay.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { testDeps } from '../../../helpers/testDeps.ts';
import type { ServiceStore } from '../../../../service/src/store/collections.ts';
import type { Deps } from '../../../../service/src/platform/deps.ts';
import { createMember, createWorkspace } from '../../../../service/src/team/operations/team.ts';
import { receiveMessage } from '../../../../service/src/conversations/operations/receiveMessage.ts';
import { forgetNext } from '../../../../service/src/app/retention/forgetContacts.ts';
import { forgetContact } from '../../../../service/src/conversations/contacts/forgetContact.ts';
import {
  removeSilentVisitors,
  removeUnansweredVisitors,
  type RoomNeeded,
} from '../../../../service/src/app/retention/removeVisitors.ts';
import { readThread } from '../../../../service/src/inbox/readThread.ts';
import { sendMessage } from '../../../../service/src/conversations/operations/sendMessage.ts';
import { startChatSession } from '../../../../service/src/channels/web_chat/chatOperations.ts';
import { assignConversation } from '../../../../service/src/conversations/operations/assign.ts';
import { writeNote } from '../../../../service/src/conversations/operations/writeNote.ts';
import { takeOverConversation } from '../../../../service/src/conversations/operations/control.ts';
import type { Subscription } from '../../../../service/src/deliveries/subscription.ts';
import type { Workspace } from '../../../../service/src/team/workspace.ts';
import { openFreshStore, type FreshStore } from '../../../helpers/openStore.ts';
import { TestClock } from '../../../helpers/testClock.ts';

const ANN = { name: 'Ann', email: 'ann@example.com', passwordHash: 'x' };
const ALL = { before: '9999', maxMessages: 1000, isConnected: () => false };

describe('conversations that were never answered', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let clock: TestClock;
  let deps: Deps;
  let workspace: Workspace;
  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    clock = new TestClock();
    deps = testDeps({ store, clock, agent: { quietMs: 0, approvalExpiresMs: 1 } });
    workspace = await createWorkspace(deps, 'Test');
  });
  afterEach(() => fresh.remove());

  /** Writes the texts a second apart. */
  const visitor = async (...texts: string[]) => {
    const nobody = { name: null, email: null, phone: null };
    const { contact } = await startChatSession(deps, workspace, nobody);
    let conversation = '';
    for (const [i, text] of texts.entries()) {
      clock.advance(1000);
      const message = { text, channelMessageId: `c${i}` };
      const received = await receiveMessage(deps, workspace, contact.id, message);
      conversation = received.conversationId;
    }
    return { contact: contact.id, conversation };
  };
  const remove = (needed: Partial<RoomNeeded> = {}) =>
    removeUnansweredVisitors(deps, {
      ...ALL,
      now: clock.now(),
      workspaces: [workspace.id],
      ...needed,
    });
  const subscribe = (id: string) =>
    store.transaction((tx) =>
      tx.subscriptions.put({
        id,
        workspaceId: workspace.id,
        event: 'message.received',
        targetUrl: `https://${id}.example/`,
        source: '',
        createdAt: '2026-06-01T12:00:00.000+00:00',
      } as unknown as Subscription),
    );
  const count = async (
    name: 'messages' | 'contacts' | 'chatSessions' | 'readMarks' | 'events' | 'deliveries',
  ) => {
    let found = 0;
    for await (const record of store.dump())
      found += Number('collection' in record && record.collection === name);
    return found;
  };
  const isThere = ({ conversation }: { conversation: string }) =>
    store.transaction(async (tx) => (await tx.conversations.peek(conversation)) !== null);
  const settle = (status: 'delivered' | 'failed') =>
    store.transaction(async (tx) => {
      for (const delivery of await tx.deliveries.find({ where: {}, limit: 100 })) {
        if (delivery.status !== 'pending') continue;
        await tx.deliveries.put({ ...delivery, status, nextAttemptAt: null });
        await tx.jobs.complete(delivery.id);
      }
    });

  it('are removed longest untouched first, with visitor, session and read marks, and no more than needed', async () => {
    const first = await visitor('a', 'b');
    const second = await visitor('c', 'd');
    const third = await visitor('e');
    const member = await createMember(deps, workspace, ANN);
    await readThread(deps, { workspace, member }, first.conversation);
    expect(await count('readMarks')).toBe(1);
    const made = await remove({ maxMessages: 4 });
    // A step ends with a batch: all of a small store is one.
    expect(made.conversations).toBeGreaterThanOrEqual(2);
    expect([await isThere(first), await isThere(second)]).toEqual([false, false]);
    await remove();
    expect(await isThere(third)).toBe(false);
    for (const name of ['messages', 'contacts', 'chatSessions', 'readMarks'] as const)
      expect([name, await count(name)]).toEqual([name, 0]);
  });

  it('stay when somebody answered, took over, is assigned or left a note, while the visitor is connected, and when they are too new', async () => {
    const { id: memberId, name } = await createMember(deps, workspace, ANN);
    const person = { type: 'team_member', name, memberId } as const;
    const [answered, taken, assigned, noted] = [
      await visitor('a'),
      await visitor('b'),
      await visitor('c'),
      await visitor('d'),
    ];
    await sendMessage(deps, workspace, answered.conversation, 'Hello', person);
    await takeOverConversation(deps, workspace, taken.conversation, person);
    await assignConversation(deps, workspace, assigned.conversation, memberId, person);
    await writeNote(deps, workspace, noted.conversation, 'I call her at noon', person);
    const [watching, old, young] = [await visitor('e'), await visitor('f'), await visitor('g')];
    const before = (await store.transaction((tx) => tx.conversations.peek(young.conversation)))!
      .updatedAt;
    const made = await remove({ before, isConnected: (contact) => contact === watching.contact });
    expect(made).toEqual({ conversations: 1, messages: 1, events: 0 });
    const kept = [answered, taken, assigned, noted, watching, young];
    expect(await Promise.all([...kept, old].map(isThere))).toEqual([
      ...kept.map(() => true),
      false,
    ]);
  });

  it('are removed with the note of an automation, which nobody has to read', async () => {
    const noted = await visitor('a');
    const n8n = { type: 'api', name: 'n8n' } as const;
    await writeNote(deps, workspace, noted.conversation, 'Came from the price list', n8n);
    await remove();
    expect(await isThere(noted)).toBe(false);
  });

  it('are removed with their delivered events; a pending or failed delivery keeps its conversation and event', async () => {
    await subscribe('sub_1');
    await subscribe('sub_2');
    const delivered = await visitor('a', 'b');
    await settle('delivered');
    const failed = await visitor('c');
    await settle('failed');
    const pending = await visitor('d');
    expect([await count('events'), await count('deliveries')]).toEqual([4, 8]);
    expect(await remove()).toEqual({ conversations: 1, messages: 2, events: 2 });
    expect(await Promise.all([delivered, failed, pending].map(isThere))).toEqual([
      false,
      true,
      true,
    ]);
    expect([await count('events'), await count('deliveries')]).toEqual([2, 4]);
  });

  it('are left to the removal of a forgotten contact, which then also finds the events', async () => {
    const { contact } = await visitor('a');
    await forgetContact(deps, workspace, contact, { type: 'api', name: 'n8n' });
    await forgetNext(deps, contact); // the conversation is gone, its events are not yet
    expect(await removeSilentVisitors(deps, '9999')).toBe(0);
    while (!(await forgetNext(deps, contact)));
    expect([await count('contacts'), await count('chatSessions'), await count('events')]).toEqual([
      1, 0, 0,
    ]);
  });
});
