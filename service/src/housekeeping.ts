import type { Logger } from 'pino';
import { timestamp, type Clock } from './domain/clock.ts';
import type { IdempotentAnswer, ServiceStore } from './domain/collections.ts';
import type { Delivery } from './domain/delivery.ts';
import type { Event } from './domain/event.ts';
import type { Sending } from './domain/sending.ts';
import { removeSilentVisitors } from './domain/operations/removeSilentVisitors.ts';
import type { Session } from './domain/session.ts';
import { isFinished, type ToolCall } from './domain/toolCall.ts';
import type { Collection, Query } from './store/store.ts';

const EVERY_MS = 10 * 60 * 1000;
const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Whoever comes back later begins anew. */
const SILENT_VISITOR_DAYS = 1;

/** Removes what has had its time: kept answers after a day, visitors who never wrote after a day, sessions when they have expired, events and finished deliveries, tool calls and sendings after RETENTION_DAYS. */
export function startHousekeeping(store: ServiceStore, clock: Clock, retentionDays: number, log: Logger): { stop(): Promise<void> } {
  const sweep = async () => {
    try {
      await sweepAll(store, clock.now(), retentionDays);
    } catch (error) {
      log.warn({ err: error }, 'clean-up could not finish; it is tried again later');
    }
  };
  let running = sweep();
  const timer = setInterval(() => (running = running.then(sweep)), EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return running;
    },
  };
}

/** One whole sweep, in small transactions. */
export async function sweepAll(store: ServiceStore, now: Date, retentionDays: number): Promise<void> {
  const before = timestamp(new Date(now.getTime() - retentionDays * DAY_MS));
  await sweepExpired(store, 'idempotentAnswers', 'idempotent_answer', timestamp(now));
  await sweepExpired(store, 'sessions', 'session', timestamp(now));
  await removeSilentVisitors({ store }, timestamp(new Date(now.getTime() - SILENT_VISITOR_DAYS * DAY_MS)));
  await sweepOlder(store, 'deliveries', before, (delivery) => delivery.status !== 'pending');
  await sweepOlder(store, 'events', before, () => true);
  await sweepOlder(store, 'toolCalls', before, isFinished);
  await sweepOlder(store, 'sendings', before, (sending) => sending.status !== 'pending');
}

type Expiring = { idempotentAnswers: IdempotentAnswer; sessions: Session };

/** Removes what has expired, the oldest first. */
async function sweepExpired<Name extends keyof Expiring>(store: ServiceStore, name: Name, kind: Expiring[Name]['kind'], now: string): Promise<void> {
  let expired: readonly unknown[];
  do {
    expired = await store.transaction(async (tx) => {
      const collection = tx[name] as Collection<Expiring[Name]>;
      const oldest = await collection.find({ where: { kind }, orderBy: 'expiresAt', limit: BATCH } as unknown as Query<Expiring[Name]>);
      const past = oldest.filter(({ expiresAt }) => expiresAt <= now);
      for (const { id } of past) await collection.delete(id);
      return past;
    });
  } while (expired.length === BATCH);
}

type Aging = { deliveries: Delivery; events: Event; sendings: Sending; toolCalls: ToolCall };

/** Walks from the oldest (ids sort by time) to the first that is young enough; what may not go yet is passed over. */
async function sweepOlder<Name extends keyof Aging>(
  store: ServiceStore,
  name: Name,
  before: string,
  mayGo: (document: Aging[Name]) => boolean,
): Promise<void> {
  let after: { value: string } | undefined;
  do {
    after = await store.transaction(async (tx) => {
      const collection = tx[name] as Collection<Aging[Name]>;
      const oldest = await collection.find({ where: {}, limit: BATCH, ...(after ? { after } : {}) } as Query<Aging[Name]>);
      const old = oldest.filter(({ createdAt }) => createdAt < before);
      for (const document of old) if (mayGo(document)) await collection.delete(document.id);
      return old.length === BATCH ? { value: old.at(-1)!.id } : undefined;
    });
  } while (after);
}
