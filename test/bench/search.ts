// How long the team's search takes on both stores, compared with the API's search by name. The team's
// looks in everything that was said, the API's goes through the conversations. Both run in this process.
import { join } from 'node:path';
import { collections } from '../../service/src/app/collections.ts';
import { listConversations } from '../../service/src/conversations/operations/listConversations.ts';
import { listInbox } from '../../service/src/inbox/listInbox.ts';
import { systemClock } from '../../service/src/platform/clock.ts';
import type { ServiceStore, Tx } from '../../service/src/store/collections.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { createMember, createWorkspace } from '../../service/src/team/operations/team.ts';
import { testDeps } from '../helpers/testDeps.ts';
import { temporaryFolder } from './children.ts';
import type { Effort } from './comparison.ts';
import { contactOf, conversationOf, messageOf, phoneOf } from './documents.ts';
import { openOnServer, startBenchServer } from './postgresServer.ts';
import { round, type PartResult, type Ratio } from './report.ts';
import { median } from './statistics.ts';

const MESSAGES = 10;
const WARM_UP = 5;
const SEARCHES = 40;
const VOCABULARY = 20_000;
const WORDS_IN_MESSAGE = 14;
const CONVERSATIONS_PER_TRANSACTION = 50;
const NO_AGENT = {} as never;
const UNFILTERED = { channel: null, stage: null, status: null, assignee: null };

export async function measureSearch(effort: Effort): Promise<PartResult> {
  const conversations = effort.share === 1 ? 10_000 : 500;
  const folder = join(temporaryFolder(), 'data');
  const embedded = await openLowdbStore(collections, { folder });
  const ratios = await measureOn('embedded', embedded, conversations);
  await embedded.close();
  const server = await startBenchServer();
  try {
    const store = await openOnServer(server, 'search');
    ratios.push(
      ...(await measureOn('PostgreSQL', store, conversations, () =>
        server.query('VACUUM ANALYZE'),
      )),
    );
    await store.close();
  } finally {
    await server.stop();
  }
  return {
    ratios,
    figures: [],
    settings: [
      `Search in what was said: ${SEARCHES} searches each, one after the other, in ${(conversations * MESSAGES).toLocaleString('en-US')} messages of ${WORDS_IN_MESSAGE} words (${VOCABULARY.toLocaleString('en-US')} different ones, by Zipf's distribution) in ${conversations.toLocaleString('en-US')} conversations; beside it the API's search by name, which looks through up to 5,000 conversations.`,
    ],
  };
}

async function measureOn(
  name: string,
  store: ServiceStore,
  conversations: number,
  afterFilling: () => Promise<unknown> = async () => {},
): Promise<Ratio[]> {
  const { workspace, member } = await fill(store, conversations);
  await afterFilling();
  const deps = testDeps({ store, agent: NO_AGENT });
  const pick = (i: number) => (i * 7919) % conversations;
  const byName = await timesOf((i) => {
    const filter = { fields: {}, q: `Customer ${pick(i)}` };
    return listConversations(deps, workspace, filter, { limit: 50 });
  });
  const searches: Record<string, (i: number) => string> = {
    'a name': (i) => `Customer ${pick(i)}`,
    'two words': (i) => `${wordAt(50 + i)} ${wordAt(200 + 3 * i)}`,
    'a rare word': (i) => wordAt(VOCABULARY - 1 - i),
    'a word of every third message': () => wordAt(0),
    'two such words': () => `${wordAt(0)} ${wordAt(1)}`,
    'the beginning of a word': (i) => wordAt(400 + i).slice(0, 3),
    'a phone': (i) => phoneOf(pick(i)).replace(/^54911(....)/, '+54 9 11 $1-'),
    'an e-mail': (i) => `customer${pick(i)}@example.com`,
    'an order number': (i) => `A-${10_000 + pick(i)}`,
    'a word that nobody wrote': (i) => `nowhere${i}`,
  };
  const ratios: Ratio[] = [];
  for (const [search, typed] of Object.entries(searches)) {
    const taken = await timesOf((i) => {
      const query = { tab: 'all', search: typed(i), filter: UNFILTERED, after: null } as const;
      return listInbox({ store }, member, query);
    });
    ratios.push({
      name: `Search, ${name}: ${search}, median, to the API's search by name`,
      values: [median(taken) / median(byName)],
      goal: { atMost: 1 },
      ours: `${round(median(taken))} ms`,
      beside: `${round(median(byName))} ms`,
    });
  }
  return ratios;
}

/** @returns milliseconds of each, after a warm-up */
async function timesOf(run: (i: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let i = -WARM_UP; i < SEARCHES; i += 1) {
    const startedAt = performance.now();
    await run(Math.abs(i));
    if (i >= 0) taken.push(performance.now() - startedAt);
  }
  return taken;
}

/** Many words have the same beginning, as those of a language do. */
const wordAt = (rank: number): string => {
  const syllables = ['ra', 'ti', 'mo', 'sen', 'lu', 'ka', 'de', 'vor', 'pi', 'na'];
  return [...String(rank)].map((digit) => syllables[Number(digit)]).join('') + 'x';
};

/** Its words follow Zipf's distribution: the nth word is n times as rare as the first one. */
function randomText(random: () => number): string {
  const words = Array.from({ length: WORDS_IN_MESSAGE }, () =>
    wordAt(Math.floor(VOCABULARY ** random()) - 1),
  );
  return `${words.slice(0, 7).join(' ')}. ${words.slice(7).join(' ')}?`;
}

async function fill(store: ServiceStore, conversations: number) {
  const deps = { store, clock: systemClock };
  const workspace = await createWorkspace(deps, 'Bench');
  const member = await createMember(deps, workspace, {
    name: 'Ana',
    email: 'ana@example.com',
    passwordHash: 'x',
  });
  // The same numbers in each run, so that each searches the same texts.
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let from = 0; from < conversations; from += CONVERSATIONS_PER_TRANSACTION)
    await store.transaction(async (tx) => {
      const to = Math.min(conversations, from + CONVERSATIONS_PER_TRANSACTION);
      for (let i = from; i < to; i += 1) await putConversation(tx, workspace.id, i, random);
    });
  return { workspace, member };
}

async function putConversation(
  tx: Tx,
  workspaceId: string,
  i: number,
  random: () => number,
): Promise<void> {
  const now = new Date();
  const contact = contactOf(workspaceId, i, now);
  const conversation = conversationOf(contact, now);
  await tx.contacts.put(contact);
  await tx.conversations.put({ ...conversation, messageCount: MESSAGES });
  for (let number = 1; number <= MESSAGES; number += 1) {
    const order = number === 3 ? `Where is A-${10_000 + i}? ` : '';
    await tx.messages.put(messageOf(conversation, number, now, order + randomText(random)));
  }
}
