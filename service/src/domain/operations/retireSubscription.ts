import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import {
  HANDED_ON_MS,
  MAX_RETIRED_SUBSCRIPTIONS,
  RETIREMENT_MS,
  RETIREMENT_QUEUE,
  isVacant,
  retirementJobId,
  type RetiredSubscription,
  type RetirementTask,
} from '../retiredSubscription.ts';
import { isSameAddress, lineageOf, type Subscription } from '../subscription.ts';
import { workGroup } from '../workGroup.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Removes a subscription and keeps its place for ten minutes. Costs the same whatever is pending.
 * The caller has locked its workspace.
 */
export async function retireSubscription(
  tx: Tx,
  subscription: Subscription,
  now: Date,
): Promise<void> {
  const { id, workspaceId, event, targetUrl, source } = subscription;
  await tx.subscriptions.delete(id);
  await makeRoom(tx, workspaceId);
  const retired = {
    id,
    workspaceId,
    event,
    targetUrl,
    source,
    lineageId: lineageOf(subscription),
    removedAt: timestamp(now),
  };
  await tx.retiredSubscriptions.put(retired);
  await schedule(tx, retired, 'recall', now.getTime());
  await schedule(tx, retired, 'end', now.getTime() + RETIREMENT_MS);
}

/**
 * Gives a retired subscription's place to its successor. It is kept for a minute: whoever has
 * looked for the successor a moment too early still finds that the lineage has a holder.
 */
export async function handOn(
  tx: Tx,
  retired: RetiredSubscription,
  successorId: string,
  now: Date,
): Promise<void> {
  const handedOn = { ...retired, successorId };
  await tx.retiredSubscriptions.put(handedOn);
  await schedule(tx, handedOn, 'end', now.getTime() + HANDED_ON_MS);
}

/**
 * Gives up a retired subscription's place. Unless a successor has it now, its deliveries are
 * cancelled as their turn comes.
 * @param retired locked by the caller
 */
export async function endRetirement(tx: Tx, { id }: RetiredSubscription): Promise<void> {
  await tx.retiredSubscriptions.delete(id);
  await tx.jobs.complete(retirementJobId(id, 'end'));
}

/**
 * The retired subscription whose place a new one takes, locked: the same event, address and source.
 */
export async function lockRetired(
  tx: Tx,
  workspace: Workspace,
  { event, targetUrl, source }: Pick<Subscription, 'event' | 'targetUrl' | 'source'>,
): Promise<RetiredSubscription | null> {
  const retired = await tx.retiredSubscriptions.find({
    where: { workspaceId: workspace.id, event },
    limit: MAX_RETIRED_SUBSCRIPTIONS,
  });
  const wanted = retired.find(
    (each) => isVacant(each) && each.source === source && isSameAddress(each.targetUrl, targetUrl),
  );
  const locked = wanted ? await tx.retiredSubscriptions.get(wanted.id) : null;
  return locked && isVacant(locked) ? locked : null;
}

/** One that has a successor goes first: it has done its service. */
async function makeRoom(tx: Tx, workspaceId: string): Promise<void> {
  const all = await tx.retiredSubscriptions.find({
    where: { workspaceId },
    orderBy: 'removedAt',
    limit: MAX_RETIRED_SUBSCRIPTIONS,
  });
  if (all.length < MAX_RETIRED_SUBSCRIPTIONS) return;
  const leaving = await tx.retiredSubscriptions.get(
    (all.find((each) => !isVacant(each)) ?? all[0]!).id,
  );
  if (leaving) await endRetirement(tx, leaving);
}

const schedule = (
  tx: Tx,
  retired: RetiredSubscription,
  task: RetirementTask,
  runAt: number,
): Promise<void> => {
  const { id, workspaceId, lineageId, removedAt } = retired;
  const group = workGroup(workspaceId, lineageId);
  const data = { task, subscriptionId: id, removedAt, isHandedOn: !isVacant(retired) };
  return tx.jobs.enqueue({
    id: retirementJobId(id, task),
    queue: RETIREMENT_QUEUE,
    group,
    runAt,
    rank: 0,
    data,
  });
};
