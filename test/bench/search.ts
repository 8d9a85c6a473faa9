// How long a search in everything that was said takes on both stores, beside the API's search by
// name, which looks through the conversations. The team's list is read in this process.
import { join } from 'node:path';
import { collections } from '../../service/src/app/collections.ts';
import { WORK_QUEUES } from '../../service/src/app/workQueues.ts';
import type { Contact } from '../../service/src/conversations/contact.ts';
import { openConversation } from '../../service/src/conversations/conversation.ts';
import { listConversations } from '../../service/src/conversations/operations/listConversations.ts';
import { listInbox } from '../../service/src/inbox/listInbox.ts';
import { systemClock, timestamp } from '../../service/src/platform/clock.ts';
import { newId } from '../../service/src/platform/ids.ts';
import type { ServiceStore, Tx } from '../../service/src/store/collections.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { openPostgresStore, serviceMigrations } from '../../service/src/store/postgres/index.ts';
import { createMember, createWorkspace } from '../../service/src/team/operations/team.ts';
import type { Member, Workspace } from '../../service/src/team/workspace.ts';
import { testDeps } from '../helpers/testDeps.ts';
import { temporaryFolder } from './children.ts';
import { startBenchServer } from './postgresServer.ts';

export const MESSAGES_IN_CONVERSATION = 10;
export const SEARCHES = 40;
const VOCABULARY = 20_000;
const WORDS_IN_MESSAGE = 14;
const CONVERSATIONS_PER_TRANSACTION = 50;
const NO_AGENT = {} as never;
const UNFILTERED = { channel: null, stage: null, status: null, assignee: null };

export interface SearchTimes {
  readonly store: string;
  readonly search: string;
  /** Milliseconds of each search. */
  readonly taken: readonly number[];
  /** The same of searches by name. */
  readonly byName: readonly number[];
}

interface Stage {
  readonly store: ServiceStore;
  readonly workspace: Workspace;
  readonly member: Member;
}

/** @param conversations each with `MESSAGES_IN_CONVERSATION` */
export async function measureSearch(conversations: number): Promise<SearchTimes[]> {
  const folder = join(temporaryFolder(), 'data');
  const embedded = await openLowdbStore(collections, { folder });
  const times = await measureOn('embedded', embedded, conversations);
  await embedded.close();
  const server = await startBenchServer();
  try {
    const store = await openPostgresStore(collections, {
      database: server.url,
      schema: 'search',
      migrations: serviceMigrations,
      queues: WORK_QUEUES,
    });
    times.push(
      ...(await measureOn('PostgreSQL', store, conversations, async () => {
        await server.query('VACUUM ANALYZE');
      })),
    );
    await store.close();
  } finally {
    await server.stop();
  }
  return times;
}

async function measureOn(
  name: string,
  store: ServiceStore,
  conversations: number,
  filled: () => Promise<void> = async () => {},
): Promise<SearchTimes[]> {
  const stage = await fill(store, conversations);
  await filled();
  const deps = testDeps({ store, agent: NO_AGENT });
  const pick = (i: number) => (i * 7919) % conversations;
  const byName = await timesOf((i) =>
    listConversations(deps, stage.workspace, { fields: {}, q: nameOf(pick(i)) }, { limit: 50 }),
  );
  const searches: Record<string, (i: number) => string> = {
    'a name': (i) => nameOf(pick(i)),
    'two words': (i) => `${wordAt(50 + i)} ${wordAt(200 + 3 * i)}`,
    'a rare word': (i) => wordAt(VOCABULARY - 1 - i),
    'a word of every third message': () => wordAt(0),
    'two such words': () => `${wordAt(0)} ${wordAt(1)}`,
    'the beginning of a word': (i) => wordAt(400 + i).slice(0, 3),
    'a phone': (i) => `+54 9 11 ${String(5_000_0000 + pick(i)).replace(/(....)$/, '-$1')}`,
    'an e-mail': (i) => `customer${pick(i)}@example.com`,
    'an order number': (i) => `A-${10_000 + pick(i)}`,
    'a word that nobody wrote': (i) => `nowhere${i}`,
  };
  const times: SearchTimes[] = [];
  for (const [search, typed] of Object.entries(searches)) {
    const taken = await timesOf((i) => {
      const query = { tab: 'all', search: typed(i), filter: UNFILTERED, after: null } as const;
      return listInbox({ store }, stage.member, query);
    });
    times.push({ store: name, search, taken, byName });
  }
  return times;
}

async function timesOf(run: (i: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let i = -5; i < SEARCHES; i += 1) {
    const startedAt = performance.now();
    await run(Math.abs(i));
    if (i >= 0) taken.push(performance.now() - startedAt);
  }
  return taken;
}

const nameOf = (i: number) => `Customer ${i}`;

/** Words that look alike in their beginnings, as those of a language do. */
const wordAt = (rank: number): string => {
  const syllables = ['ra', 'ti', 'mo', 'sen', 'lu', 'ka', 'de', 'vor', 'pi', 'na'];
  return [...String(rank)].map((digit) => syllables[Number(digit)]).join('') + 'x';
};

/** Zipf's distribution: the nth word is n times as rare as the first one. */
function randomText(random: () => number): string {
  const words = Array.from({ length: WORDS_IN_MESSAGE }, () =>
    wordAt(Math.floor(VOCABULARY ** random()) - 1),
  );
  return `${words.slice(0, 7).join(' ')}. ${words.slice(7).join(' ')}?`;
}

async function fill(store: ServiceStore, conversations: number): Promise<Stage> {
  const deps = { store, clock: systemClock };
  const workspace = await createWorkspace(deps, 'Bench');
  const member = await createMember(deps, workspace, {
    name: 'Ana',
    email: 'ana@example.com',
    passwordHash: 'x',
  });
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let from = 0; from < conversations; from += CONVERSATIONS_PER_TRANSACTION)
    await store.transaction(async (tx) => {
      const to = Math.min(conversations, from + CONVERSATIONS_PER_TRANSACTION);
      for (let i = from; i < to; i += 1) await putConversation(tx, workspace.id, i, random);
    });
  return { store, workspace, member };
}

async function putConversation(
  tx: Tx,
  workspaceId: string,
  i: number,
  random: () => number,
): Promise<void> {
  const now = new Date();
  const contact: Contact = {
    id: newId('ctc'),
    workspaceId,
    channel: 'web_chat',
    name: nameOf(i),
    phone: `54911${5_000_0000 + i}`,
    email: `customer${i}@example.com`,
    verified: false,
    createdAt: timestamp(now),
  };
  const conversation = openConversation(
    {
      id: newId('conv'),
      workspaceId,
      contactId: contact.id,
      channel: 'web_chat',
      previousConversationId: null,
    },
    now,
  );
  await tx.contacts.put(contact);
  await tx.conversations.put({ ...conversation, messageCount: MESSAGES_IN_CONVERSATION });
  for (let number = 1; number <= MESSAGES_IN_CONVERSATION; number += 1)
    await tx.messages.put({
      id: newId('msg'),
      workspaceId,
      conversationId: conversation.id,
      contactId: contact.id,
      number,
      direction: 'inbound',
      sender: { type: 'customer', name: 'Customer' },
      text: number === 3 ? `Where is A-${10_000 + i}? ${randomText(random)}` : randomText(random),
      channelMessageId: null,
      createdAt: timestamp(now),
    });
}
