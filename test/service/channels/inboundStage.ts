// A workspace with a WhatsApp number, and what the channel tells it. No sender and no agent runs here.
import { afterEach, beforeEach } from '@jest/globals';
import type { Channel } from '../../../service/src/channels/channel.ts';
import type { InboundItem, InboundSender } from '../../../service/src/channels/inbound.ts';
import { createChannel } from '../../../service/src/channels/operations/channels.ts';
import { receiveInbound } from '../../../service/src/channels/operations/receiveInbound.ts';
import type { Contact } from '../../../service/src/conversations/contact.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import type { Workspace } from '../../../service/src/team/workspace.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { steadied } from '../../helpers/testClock.ts';
import { testDeps } from '../../helpers/testDeps.ts';

export const ACCOUNT = '106540352242922';
export const PHONE = '5491155550001';
export const NOW = new Date('2026-11-21T10:00:00Z');

export let store: ServiceStore;
export let deps: Deps;
export let workspace: Workspace;
export let channel: Channel;

/**
 * Opens a store for each test of a file.
 * @param aheadMs how far the store's clock is ahead, so that the agent's quiet time is over for the
 * queue
 */
export function useInbound({
  now = () => NOW,
  aheadMs = () => 0,
}: { now?: () => Date; aheadMs?: () => number } = {}): void {
  let fresh: FreshStore;
  beforeEach(async () => {
    fresh = await openFreshStore({
      clock: steadied({ now: () => new Date(now().getTime() + aheadMs()) }),
    });
    ({ store } = fresh);
    deps = testDeps({
      store,
      clock: { now },
      agent: { quietMs: 800, approvalExpiresMs: 1000 },
      publicUrl: () => 'http://localhost',
    });
    workspace = await createWorkspace(deps, 'Test');
    channel = await connect(ACCOUNT);
  });
  afterEach(async () => {
    await fresh.remove();
  });
}

export const connect = (account: string, owner = workspace) =>
  createChannel(deps, owner, {
    type: 'whatsapp_cloud',
    name: account,
    values: { phone_number_id: account, access_token: 'EAAG1', app_secret: 'abc' },
  });

let ids = 0;
/** The id of the next item that the channel delivers. */
export const nextId = () => `wamid.${++ids}`;

export const who = (
  phone: string | null,
  userId: string | null = null,
  name: string | null = null,
): InboundSender => ({ phone, userId, name });
export const message = (from: InboundSender, text = 'hi', more: object = {}): InboundItem => ({
  type: 'message',
  account: ACCOUNT,
  from,
  id: nextId(),
  text,
  sentAt: NOW,
  ...more,
});
export const take = (...items: InboundItem[]) => receiveInbound(deps, channel, items);

/** All contacts, from a dump: the service has no query for them. */
export async function contacts(): Promise<Contact[]> {
  const found: Contact[] = [];
  for await (const record of store.dump())
    if ('collection' in record && record.collection === 'contacts')
      found.push(record.document as Contact);
  return found;
}
export const conversations = (contact: Contact) =>
  store.transaction((tx) =>
    tx.conversations.find({ where: { contactId: contact.id }, limit: 100 }),
  );
