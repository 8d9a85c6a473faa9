import { isAgentOn } from '../agent/index.ts';
import { startChatSession } from '../channels/index.ts';
import { type Message, receiveMessage } from '../conversations/index.ts';
import { findActiveSubscriptions } from '../deliveries/index.ts';
import { count } from '../platform/counting/count.ts';
import { type Deps, inOneTransaction } from '../platform/deps.ts';
import { newId } from '../platform/ids.ts';
import type { Tx } from '../store/collections.ts';
import { endFirstHour, type Workspace } from '../team/index.ts';
import { RANGES } from './range.ts';
import { readCounts } from './readCounts.ts';

/** In the order in which most people do them. */
export const STEPS = ['key', 'n8n', 'event', 'answer', 'channel', 'agent', 'colleague'] as const;
export type Step = (typeof STEPS)[number];

/** The steps that are done. */
export type FirstHour = ReadonlySet<Step>;

declare module '../platform/counting/count.ts' {
  interface Counted {
    /** Conversations that a test message opened. They are also counted as `opened`. */
    opened_by_test: readonly [channel: string];
  }
}

/** The `source` of a subscription that our nodes create. */
const N8N = 'n8n';
const LONGEST_RANGE = RANGES.at(-1)!;

/**
 * Which of the first steps a workspace has done. Once all are done, this is stored, and nothing is
 * read any more.
 * @returns null when all are done, or an owner dismissed the steps
 */
export async function readFirstHour(
  deps: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
): Promise<FirstHour | null> {
  if (workspace.firstHourEndedAt) return null;
  const { total } = await readCounts(deps, workspace, LONGEST_RANGE);
  const done = new Set(await deps.store.transaction((tx) => stepsInStore(tx, workspace)));
  if ((total.eachBySecondLabel('delivery').get('delivered') ?? 0) > 0) done.add('event');
  if (total.sum('first_answer') > 0) done.add('answer');
  if (total.sum('opened') > total.sum('opened_by_test')) done.add('channel');
  if (done.size < STEPS.length) return done;
  await endFirstHour(deps, workspace);
  return null;
}

async function stepsInStore(tx: Tx, { id: workspaceId }: Workspace): Promise<readonly Step[]> {
  const where = { workspaceId };
  const [keys, subscriptions, channels, members, invites, isOn] = await Promise.all([
    tx.apiKeys.find({ where, limit: 1 }),
    findActiveSubscriptions(tx, workspaceId),
    tx.channels.find({ where, limit: 1 }),
    tx.members.find({ where, limit: 2 }),
    tx.invites.find({ where, limit: 1 }),
    isAgentOn(tx, workspaceId),
  ]);
  const isDone: Readonly<Partial<Record<Step, boolean>>> = {
    key: keys.length > 0,
    n8n: subscriptions.some(({ source, owner }) => source === N8N || Boolean(owner)),
    channel: channels.length > 0,
    agent: isOn,
    colleague: members.length > 1 || invites.length > 0,
  };
  return STEPS.filter((step) => isDone[step]);
}

const TEST_CUSTOMER = { name: 'Test customer', email: null, phone: null };
const TEST_TEXT = 'Hello! This is a test message from the Overview.';

/**
 * Writes as a new visitor of the web chat does: a conversation begins, its events go out, and the
 * agent answers if it is on.
 */
export const sendTestMessage = (deps: Deps, workspace: Workspace): Promise<Message> =>
  inOneTransaction(deps, async (within, tx) => {
    const { contact } = await startChatSession(within, workspace, TEST_CUSTOMER);
    await count(tx, workspace.id, deps.clock.now(), ['opened_by_test', [contact.channel]]);
    const channelMessageId = newId('msg');
    return receiveMessage(within, workspace, contact.id, { text: TEST_TEXT, channelMessageId });
  });
