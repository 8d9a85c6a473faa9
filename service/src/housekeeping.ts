import type { Logger } from 'pino';
import { timestamp, type Clock } from './domain/clock.ts';
import type { ServiceStore, Tx } from './domain/collections.ts';

const EVERY_MS = 10 * 60 * 1000;
const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes what has had its time: kept answers after a day, events and finished deliveries after RETENTION_DAYS. */
export function startHousekeeping(store: ServiceStore, clock: Clock, retentionDays: number, log: Logger): { stop(): void } {
  const sweep = async () => {
    try {
      await sweepAll(store, clock.now(), retentionDays);
    } catch (error) {
      log.warn({ err: error }, 'clean-up could not finish; it is tried again later');
    }
  };
  const timer = setInterval(() => void sweep(), EVERY_MS);
  void sweep();
  return { stop: () => clearInterval(timer) };
}

/** One whole sweep, in small transactions. */
export async function sweepAll(store: ServiceStore, now: Date, retentionDays: number): Promise<void> {
  const before = timestamp(new Date(now.getTime() - retentionDays * DAY_MS));
  await inBatches(store, (tx) => sweepAnswers(tx, timestamp(now)));
  await inBatches(store, (tx) => sweepDeliveries(tx, before));
  await inBatches(store, (tx) => sweepEvents(tx, before));
}

async function inBatches(store: ServiceStore, sweep: (tx: Tx) => Promise<number>): Promise<void> {
  while ((await store.transaction(sweep)) === BATCH);
}

async function sweepAnswers(tx: Tx, now: string): Promise<number> {
  const kept = await tx.idempotentAnswers.find({ where: { kind: 'idempotent_answer' }, orderBy: 'expiresAt', limit: BATCH });
  const expired = kept.filter(({ expiresAt }) => expiresAt <= now);
  for (const { id } of expired) await tx.idempotentAnswers.delete(id);
  return expired.length;
}

/** The oldest come first, since ids sort by time; a pending one is left until it is finished. */
async function sweepDeliveries(tx: Tx, before: string): Promise<number> {
  const oldest = await tx.deliveries.find({ where: {}, limit: BATCH });
  const expired = oldest.filter(({ createdAt, status }) => createdAt < before && status !== 'pending');
  for (const { id } of expired) await tx.deliveries.delete(id);
  return expired.length;
}

async function sweepEvents(tx: Tx, before: string): Promise<number> {
  const oldest = await tx.events.find({ where: {}, limit: BATCH });
  const expired = oldest.filter(({ createdAt }) => createdAt < before);
  for (const { id } of expired) await tx.events.delete(id);
  return expired.length;
}
