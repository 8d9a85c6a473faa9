// How long the team's pages take with much stored, beside a small store. The built service is asked
// for them, one after the other.
import { join } from 'node:path';
import { collections } from '../../service/src/app/collections.ts';
import type { ServiceStore } from '../../service/src/store/collections.ts';
import { CONVERSATION_STATUSES } from '../../service/src/conversations/conversation.ts';
import { findWorkspace } from '../../service/src/team/operations/team.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { MEMBER_ENV, signedInBrowser } from '../helpers/browserless.ts';
import { startService, temporaryFolder } from './children.ts';
import type { Effort } from './comparison.ts';
import { contactOf, conversationOf, messageOf } from './documents.ts';
import { fillCounters } from './fillCounters.ts';
import { round, type PartResult } from './report.ts';
import type { Tls } from './sinkClient.ts';
import { median, quantile } from './statistics.ts';

const MESSAGES = 50;
const WARM_UP = 10;
const REQUESTS = 60;
/** The goal for a page's median. */
const GOAL_MS = 50;
const START_WITHIN_MS = 120_000;

/** Measures list, thread, search and overview over both stores. */
export async function measureScreens({ caFile }: Tls, effort: Effort): Promise<PartResult> {
  const sizes = { small: 10, large: effort.share === 1 ? 10_000 : 500 };
  const small = await timesWith(caFile, sizes.small);
  const large = await timesWith(caFile, sizes.large);
  const text = (times: readonly number[]) =>
    `${round(median(times))} ms (95 %: ${round(quantile(times, 0.95))} ms)`;
  return {
    ratios: Array.from(large, ([page, times]) => ({
      name: `Page "${page}", median to the goal of ${GOAL_MS} ms`,
      values: [median(times) / GOAL_MS],
      goal: { atMost: 1 },
      ours: text(times),
      beside: text(small.get(page)!),
    })),
    figures: [],
    settings: [
      `Pages of the team: ${REQUESTS} requests each, one after the other, with ${sizes.large.toLocaleString('en-US')} conversations of ${MESSAGES} messages stored; beside it with ${sizes.small} conversations.`,
    ],
  };
}

/** @returns milliseconds of each request, by page */
async function timesWith(caFile: string, size: number): Promise<Map<string, number[]>> {
  const folder = temporaryFolder();
  const first = await startService(caFile, undefined, { folder, env: MEMBER_ENV });
  await first.stop();
  const ids = await fill(join(folder, 'data'), size);
  const service = await startService(caFile, undefined, { folder, startWithinMs: START_WITHIN_MS });
  const times = new Map<string, number[]>();
  try {
    const member = await signedInBrowser(service.url);
    // The prime factor spreads the requests over all conversations.
    const idOf = (i: number) => ids[(i * 7919) % ids.length]!;
    const pages: Record<string, (i: number) => string> = {
      list: () => '/conversations',
      'list, a tab': () => '/conversations?tab=waiting',
      'list, search': (i) => `/conversations?q=customer%20${i % size}`,
      'thread with list': (i) => `/conversations/${idOf(i)}`,
      'overview, 24 hours': () => '/overview?range=24h',
      'overview, 90 days': () => '/overview?range=90d',
      'thread, its live part': (i) => `/conversations/${idOf(i)}/items`,
    };
    for (const [page, path] of Object.entries(pages)) {
      const taken: number[] = [];
      for (let i = -WARM_UP; i < REQUESTS; i += 1) {
        const startedAt = performance.now();
        const { status } = await member.get(path(Math.abs(i)));
        if (status !== 200) throw new Error(`${page} answered ${status}`);
        if (i >= 0) taken.push(performance.now() - startedAt);
      }
      times.set(page, taken);
    }
  } finally {
    await service.stop();
  }
  return times;
}

/** @returns the conversations' ids */
async function fill(folder: string, size: number): Promise<string[]> {
  const store = await openLowdbStore(collections, { folder });
  const workspace = (await findWorkspace({ store }))!;
  const ids: string[] = [];
  for (let i = 0; i < size; i += 1) ids.push(await putConversation(store, workspace.id, i));
  await fillCounters(store, workspace.id);
  await store.close();
  return ids;
}

const putConversation = (store: ServiceStore, workspaceId: string, i: number) =>
  store.transaction(async (tx) => {
    const at = new Date(Date.now() - i * 60_000);
    const contact = contactOf(workspaceId, i, at);
    const conversation = {
      ...conversationOf(contact, at),
      status: CONVERSATION_STATUSES[i % CONVERSATION_STATUSES.length]!,
      messageCount: MESSAGES,
      customerMessageCount: MESSAGES / 2,
    };
    await tx.contacts.put(contact);
    await tx.conversations.put(conversation);
    for (let number = 1; number <= MESSAGES; number += 1)
      await tx.messages.put(messageOf(conversation, number, at));
    return conversation.id;
  });
