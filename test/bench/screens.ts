// How long the team's pages take with much stored, beside a small store: the built service, asked
// one page after the other.
import { join } from 'node:path';
import { systemClock } from '../../service/src/platform/clock.ts';
import { collections } from '../../service/src/app/collections.ts';
import type { ServiceStore } from '../../service/src/store/collections.ts';
import type { Contact } from '../../service/src/conversations/contact.ts';
import {
  CONVERSATION_STATUSES,
  openConversation,
  type Conversation,
} from '../../service/src/conversations/conversation.ts';
import { newId } from '../../service/src/platform/ids.ts';
import type { Message } from '../../service/src/conversations/message.ts';
import { createMember, createWorkspace } from '../../service/src/team/operations/team.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { signedInBrowser } from '../helpers/browserless.ts';
import { hashOf } from '../helpers/hashOf.ts';
import { startService, temporaryFolder } from './children.ts';
import { MESSAGE_TEXT } from './customers.ts';
import { fillCounters } from './fillCounters.ts';

export const SIZES = { small: 10, large: 10_000 };
export const MESSAGES = 50;
export const REQUESTS = 60;
/** The goal for a page's median. */
export const SCREEN_GOAL_MS = 50;
const MEMBER = { email: 'ana@example.com', password: 'correct horse battery' };
const LOADING_MS = 120_000;

export interface PageTimes {
  readonly page: string;
  /** Milliseconds of each request. */
  readonly small: readonly number[];
  readonly large: readonly number[];
}

/** Measures list, thread, search and overview over both stores. */
export async function measureScreens(caFile: string, sizes = SIZES): Promise<PageTimes[]> {
  const small = await timesWith(caFile, sizes.small);
  const large = await timesWith(caFile, sizes.large);
  return [...small.keys()].map((page) => ({
    page,
    small: small.get(page)!,
    large: large.get(page)!,
  }));
}

async function timesWith(caFile: string, size: number): Promise<Map<string, number[]>> {
  const folder = temporaryFolder();
  const ids = await fill(join(folder, 'data'), size);
  const service = await startService(caFile, undefined, { folder, startWithinMs: LOADING_MS });
  const times = new Map<string, number[]>();
  try {
    const member = await signedInBrowser(service.url, MEMBER);
    const pages: Record<string, (i: number) => string> = {
      list: () => '/conversations',
      'list, a tab': () => '/conversations?tab=waiting',
      'list, search': (i) => `/conversations?q=customer%20${i % size}`,
      'thread with list': (i) => `/conversations/${ids[(i * 7919) % ids.length]!}`,
      'overview, 24 hours': () => '/overview?range=24h',
      'overview, 90 days': () => '/overview?range=90d',
      'thread, its live part': (i) => `/conversations/${ids[(i * 7919) % ids.length]!}/items`,
    };
    for (const [page, path] of Object.entries(pages)) {
      const taken: number[] = [];
      for (let i = -10; i < REQUESTS; i += 1) {
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
  const deps = { store, clock: systemClock };
  const workspace = await createWorkspace(deps, 'Bench');
  const passwordHash = await hashOf(MEMBER.password);
  await createMember(deps, workspace, { name: 'Ana', email: MEMBER.email, passwordHash });
  const ids: string[] = [];
  for (let i = 0; i < size; i += 1) ids.push(await putConversation(store, workspace.id, i));
  await fillCounters(store, workspace.id);
  await store.close();
  return ids;
}

const putConversation = (store: ServiceStore, workspaceId: string, i: number) =>
  store.transaction(async (tx) => {
    const at = new Date(Date.now() - i * 60_000);
    const createdAt = at.toISOString().replace('Z', '+00:00');
    const phone = `54911${String(55_500_000 + i)}`;
    const contact: Contact = {
      id: newId('ctc'),
      workspaceId,
      channel: 'web_chat',
      name: `Customer ${i}`,
      phone,
      email: `customer${i}@example.com`,
      verified: false,
      createdAt,
    };
    const opened = openConversation(
      {
        id: newId('conv'),
        workspaceId,
        contactId: contact.id,
        channel: 'web_chat',
        previousConversationId: null,
      },
      at,
    );
    const status = CONVERSATION_STATUSES[i % CONVERSATION_STATUSES.length]!;
    const conversation: Conversation = {
      ...opened,
      status,
      messageCount: MESSAGES,
      customerMessageCount: MESSAGES / 2,
    };
    await tx.contacts.put(contact);
    await tx.conversations.put(conversation);
    for (let number = 1; number <= MESSAGES; number += 1)
      await tx.messages.put(messageOf(conversation, number, createdAt));
    return conversation.id;
  });

const messageOf = (
  { workspaceId, id, contactId }: Conversation,
  number: number,
  createdAt: string,
): Message => {
  const isInbound = number % 2 === 1;
  return {
    id: newId('msg'),
    workspaceId,
    conversationId: id,
    contactId,
    number,
    direction: isInbound ? 'inbound' : 'outbound',
    sender: isInbound
      ? { type: 'customer', name: 'Customer' }
      : { type: 'team_member', name: 'Ana' },
    text: MESSAGE_TEXT,
    channelMessageId: null,
    createdAt,
  };
};
