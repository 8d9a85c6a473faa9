import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import {
  RETIRED_LIMIT,
  RETIREMENT_MS,
  RETIREMENT_QUEUE,
  retirementJobId,
  type RetiredSubscription,
  type RetirementTask,
} from '../retiredSubscription.ts';
import { isSameAddress, lineageOf, type Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';

/** Removes a subscription and keeps its place for ten minutes. Costs the same whatever is pending. */
export async function retireSubscription(tx: Tx, subscription: Subscription, now: Date): Promise<void> {
  const { id, workspaceId, event, targetUrl, source } = subscription;
  await tx.subscriptions.delete(id);
  await makeRoom(tx, workspaceId);
  const retired = { id, workspaceId, event, targetUrl, source, lineageId: lineageOf(subscription), removedAt: timestamp(now) };
  await tx.retiredSubscriptions.put(retired);
  await schedule(tx, retired, 'recall', now.getTime());
  await schedule(tx, retired, 'end', now.getTime() + RETIREMENT_MS);
}

/** Gives up a retired subscription's place. Unless a successor has it now, its deliveries are cancelled as their turn comes. */
export async function endRetirement(tx: Tx, { id }: RetiredSubscription): Promise<void> {
  await tx.retiredSubscriptions.delete(id);
  await tx.jobs.complete(retirementJobId(id, 'end'));
}

/** The retired subscription whose place a new one takes: the same event, address and source. */
export async function findRetired(
  tx: Tx,
  workspace: Workspace,
  { event, targetUrl, source }: Pick<Subscription, 'event' | 'targetUrl' | 'source'>,
): Promise<RetiredSubscription | null> {
  const retired = await tx.retiredSubscriptions.find({ where: { workspaceId: workspace.id, event }, limit: RETIRED_LIMIT });
  return retired.find((each) => each.source === source && isSameAddress(each.targetUrl, targetUrl)) ?? null;
}

async function makeRoom(tx: Tx, workspaceId: string): Promise<void> {
  const oldest = await tx.retiredSubscriptions.find({ where: { workspaceId }, orderBy: 'removedAt', limit: RETIRED_LIMIT });
  if (oldest.length === RETIRED_LIMIT) await endRetirement(tx, oldest[0]!);
}

const schedule = (tx: Tx, { id, lineageId, removedAt }: RetiredSubscription, task: RetirementTask, runAt: number): Promise<void> =>
  tx.jobs.enqueue({ id: retirementJobId(id, task), queue: RETIREMENT_QUEUE, group: lineageId, runAt, rank: 0, data: { task, subscriptionId: id, removedAt } });
