import { isOpen, type WebhookTurn } from '../../agent/webhook/webhookTurn.ts';
import { type Clock, timestamp } from '../../platform/clock.ts';
import { following, sumOfBatches } from '../../platform/http/page.ts';
import type { ServiceStore, Tx } from '../../store/collections.ts';
import type { IdempotentAnswer } from '../../platform/platformStore.ts';
import type { Delivery } from '../../deliveries/delivery.ts';
import type { Event } from '../../deliveries/event.ts';
import { removeOldConversations } from './removeOldConversations.ts';
import { sweepCounters } from '../../overview/sweepCounters.ts';
import type { Presence } from '../../inbox/presence/presence.ts';
import { removeSilentVisitors } from './removeVisitors.ts';
import type { OutboundMessage } from '../../channels/outbound/outboundMessage.ts';
import { isOver, type Wait } from '../../waits/wait.ts';
import { isComplete, type ToolCall } from '../../tools/calls/toolCall.ts';
import type { Session } from '../../team/workspace.ts';
import type { Collection, Query } from '../../store/store.ts';
import { HOUSEKEEPING_QUEUE } from '../workQueues.ts';
import {
  startWorker,
  type JobContext,
  type Work,
  type Worker,
} from '../../platform/jobs/worker.ts';

/** The id and the group of the job that says when the next sweep is due. */
const HOUSEKEEPING_JOB = 'housekeeping';

/** How long things are kept. */
export interface Retention {
  /** Events, deliveries, finished tool calls and turns, ended waits and outbound messages. */
  readonly days: number;
  /** Conversations since their last change; 0: they are never removed. */
  readonly conversationDays: number;
}

interface HousekeepingOptions extends Work {
  /** Says how old things are. A monotonic clock: a wrong one would remove too much, for good. */
  readonly ageClock: Clock;
  readonly retention: Retention;
  /** Between two sweeps. Default: ten minutes. */
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 10 * 60 * 1000;

/** During a sweep that takes longer, another process may start a second one, which does no harm. */
const LEASE_MS = 15 * 60 * 1000;

const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A visitor who comes back later starts over. */
const SILENT_VISITOR_DAYS = 1;

/**
 * Sweeps at the start and then regularly. The next sweep is a job in the store: one process sweeps
 * at a time, and another one continues when it dies.
 */
export async function startHousekeeping(options: HousekeepingOptions): Promise<Worker> {
  const { store, clock } = options.deps;
  const { [HOUSEKEEPING_QUEUE]: queue } = (await store.stats()).queues;
  const isUnderWay = (queue?.claimed ?? 0) > 0;
  if (!isUnderWay) {
    const job = {
      id: HOUSEKEEPING_JOB,
      queue: HOUSEKEEPING_QUEUE,
      group: HOUSEKEEPING_JOB,
      rank: 0,
      data: {},
    };
    await store.transaction((tx) => tx.jobs.enqueue({ ...job, runAt: clock.now().getTime() }));
  }
  return startWorker({
    ...options,
    queue: HOUSEKEEPING_QUEUE,
    maxPerWorkspace: 1,
    leaseMs: LEASE_MS,
    run: (_job, context) => sweepAndReschedule(options, context),
    onFailure: {
      message: 'the next clean-up could not be scheduled; it runs when the lease of this one ends',
      idField: 'job',
    },
  });
}

async function sweepAndReschedule(
  { deps: { store, clock }, ageClock, retention, log, everyMs = EVERY_MS }: HousekeepingOptions,
  { retry }: JobContext,
): Promise<void> {
  try {
    const { givenUp } = await sweepAll(store, ageClock.now(), retention);
    if (givenUp > 0)
      log.warn(
        { deliveries: givenUp },
        `deliveries that could not be sent within RETENTION_DAYS (${retention.days}) were removed`,
      );
  } catch (error) {
    log.warn({ err: error }, 'the clean-up failed; it runs again later');
  }
  await retry(() =>
    store.transaction((tx) =>
      tx.jobs.release(HOUSEKEEPING_JOB, { runAt: clock.now().getTime() + everyMs, rank: 0 }),
    ),
  );
}

/**
 * One whole sweep, in small transactions. It removes:
 * - expired sessions, presences and answers to repeated writes
 * - visitors who wrote nothing for a day
 * - events, deliveries and outbound messages that are older than RETENTION_DAYS, and tool calls,
 *   turns of workflows and waits that ended longer ago than that
 * - conversations that have not changed for CONVERSATION_RETENTION_DAYS
 * - counters of long ago
 *
 * Two sweeps at once do no harm: each document is locked and checked again before it is removed.
 * @returns `givenUp`: how many of the removed deliveries had not been sent
 */
export async function sweepAll(
  store: ServiceStore,
  now: Date,
  retention: Retention,
): Promise<{ givenUp: number }> {
  const daysAgo = (days: number) => timestamp(new Date(now.getTime() - days * DAY_MS));
  const before = daysAgo(retention.days);
  await sweepExpired(store, 'idempotentAnswers', 'idempotent_answer', timestamp(now));
  await sweepExpired(store, 'sessions', 'session', timestamp(now));
  await sweepExpired(store, 'presences', 'presence', timestamp(now));
  await removeSilentVisitors({ store }, daysAgo(SILENT_VISITOR_DAYS));
  const { givenUp, owed } = await sweepDeliveries(store, before);
  await sweepOlder(store, 'events', before, ({ id }) => !owed.has(id));
  // An approval or a question may have been open for most of that time.
  const isPast = (endedAt: string | null) => (endedAt ?? '') < before;
  await sweepOlder(
    store,
    'toolCalls',
    before,
    (call) => isComplete(call) && isPast(call.finishedAt),
  );
  await sweepOlder(store, 'waits', before, (wait) => isOver(wait) && isPast(wait.endedAt));
  await sweepOlder(store, 'webhookTurns', before, (turn) => !isOpen(turn) && isPast(turn.endedAt));
  await sweepOlder(store, 'outboundMessages', before, (outbound) => outbound.status !== 'pending');
  if (retention.conversationDays > 0)
    await removeOldConversations({ store }, daysAgo(retention.conversationDays), now);
  await sweepCounters(store, now);
  return { givenUp };
}

type Expiring = { idempotentAnswers: IdempotentAnswer; sessions: Session; presences: Presence };

/** Removes expired documents, the oldest first. */
const sweepExpired = <Name extends keyof Expiring>(
  store: ServiceStore,
  name: Name,
  kind: Expiring[Name]['kind'],
  now: string,
): Promise<number> =>
  sumOfBatches({ store }, async (tx) => {
    const collection = tx[name] as Collection<Expiring[Name]>;
    const oldest = await collection.find({
      where: { kind },
      orderBy: 'expiresAt',
      limit: BATCH,
    } as unknown as Query<Expiring[Name]>);
    const past = oldest.filter(({ expiresAt }) => expiresAt <= now);
    // The get locks: an expired answer may be replaced by a new one at this moment.
    for (const { id } of past)
      if (((await collection.get(id))?.expiresAt ?? now) <= now) await collection.delete(id);
    return { result: past.length, next: past.length < BATCH ? null : {} };
  });

/**
 * Removes deliveries that were created before a time. A pending one is removed too if its next
 * attempt was due before that time: a receiver that never answers would otherwise fill the disk. A
 * delivery that was queued again recently stays, and so does its event.
 * @returns `owed`: the events of old deliveries that stay
 */
async function sweepDeliveries(
  store: ServiceStore,
  before: string,
): Promise<{ givenUp: number; owed: ReadonlySet<string> }> {
  const owed = new Set<string>();
  const givenUp = new Set<string>();
  await sweepOlder(
    store,
    'deliveries',
    before,
    async ({ id, status, eventId, nextAttemptAt }, tx) => {
      if (status !== 'pending') return true;
      const isOverdue = nextAttemptAt !== null && nextAttemptAt < before;
      if (!isOverdue) {
        owed.add(eventId);
        return false;
      }
      givenUp.add(id);
      await tx.jobs.complete(id);
      return true;
    },
  );
  return { givenUp: givenUp.size, owed };
}

type Aging = {
  deliveries: Delivery;
  events: Event;
  outboundMessages: OutboundMessage;
  toolCalls: ToolCall;
  waits: Wait;
  webhookTurns: WebhookTurn;
};

/**
 * Removes documents from the oldest (ids sort by time) to the first that is young enough, except
 * those that may not go yet.
 */
const sweepOlder = <Name extends keyof Aging>(
  store: ServiceStore,
  name: Name,
  before: string,
  mayGo: (document: Aging[Name], tx: Tx) => boolean | Promise<boolean>,
): Promise<number> =>
  sumOfBatches({ store }, async (tx, from) => {
    const collection = tx[name] as Collection<Aging[Name]>;
    const query = { where: {}, limit: BATCH, ...from } as Query<Aging[Name]>;
    const old = (await collection.find(query)).filter(({ createdAt }) => createdAt < before);
    for (const { id } of old) {
      // The get locks: a delivery may have been queued again since it was found.
      const document = await collection.get(id);
      if (document && (await mayGo(document, tx))) await collection.delete(id);
    }
    return { result: old.length, next: following(old, BATCH) };
  });
