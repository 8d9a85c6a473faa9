import { queueDelivery } from '../../../service/src/deliveries/operations/emit.ts';
import { stampRequest } from '../../../service/src/deliveries/request.ts';
import type { MadeAttempt } from '../../../service/src/deliveries/sending/recordResult.ts';
import type { Subscription } from '../../../service/src/deliveries/subscription.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { storedEvent } from '../../helpers/storedDelivery.ts';

const VERDICTS: Record<number, 'success' | 'gone'> = { 200: 'success', 410: 'gone' };

/** Queues a delivery. @returns an attempt of it that got this answer and is not recorded yet */
export async function madeAttempt(
  store: ServiceStore,
  { id: subscriptionId, revision, targetUrl, workspaceId }: Subscription,
  statusCode: number,
  at = new Date(),
): Promise<MadeAttempt> {
  const event = storedEvent({ workspaceId });
  const { id: deliveryId, nextAttemptAt } = await store.transaction((tx) =>
    queueDelivery(tx, event, subscriptionId, new Date()),
  );
  const result = {
    request: stampRequest(event, [], at, null),
    verdict: VERDICTS[statusCode] ?? 'failure',
    statusCode,
    durationMs: 1,
    error: null,
    errorKind: null,
    responseExcerpt: null,
  } as const;
  return { deliveryId, subscriptionId, revision, targetUrl, nextAttemptAt, result, at };
}
