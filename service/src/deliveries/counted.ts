import { count, type Counting } from '../platform/counting/count.ts';
import { durationBucket } from '../platform/counting/durations.ts';
import type { Tx } from '../store/collections.ts';
import type { Delivery } from './delivery.ts';
import type { AttemptResult } from './sending/attempt.ts';

declare module '../platform/counting/count.ts' {
  interface Counted {
    attempt: readonly [subscriptionId: string, result: 'succeeded' | 'failed'];
    /** How long an attempt took, whatever its result. */
    attempt_time: readonly [subscriptionId: string, durationBucket: number];
    /** Deliveries that an attempt ended. When a delivery is sent again, only a success counts. */
    delivery: readonly [subscriptionId: string, outcome: 'delivered' | 'failed'];
  }
}

export interface RecordedAttempt {
  readonly result: Pick<AttemptResult, 'verdict' | 'durationMs'>;
  /** The delivery after the attempt. */
  readonly delivery: Pick<Delivery, 'workspaceId' | 'subscriptionId' | 'status' | 'roundStart'>;
}

/** Counts attempts, workspace by workspace. */
export async function countAttempts(
  tx: Tx,
  recorded: readonly RecordedAttempt[],
  now: Date,
): Promise<void> {
  const byWorkspace = Map.groupBy(recorded, ({ delivery }) => delivery.workspaceId);
  for (const [workspaceId, attempts] of byWorkspace)
    await count(tx, workspaceId, now, ...attempts.flatMap(countingsOf));
}

function countingsOf({ result, delivery }: RecordedAttempt): readonly Counting[] {
  const { subscriptionId, status, roundStart } = delivery;
  const isSuccess = result.verdict === 'success';
  const countings: Counting[] = [
    ['attempt', [subscriptionId, isSuccess ? 'succeeded' : 'failed']],
    ['attempt_time', [subscriptionId, durationBucket(result.durationMs)]],
  ];
  if (isSuccess) countings.push(['delivery', [subscriptionId, 'delivered']]);
  else if (status !== 'pending' && roundStart === 0)
    countings.push(['delivery', [subscriptionId, 'failed']]);
  return countings;
}
