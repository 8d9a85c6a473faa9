import type { ServiceStore } from '../store/collections.ts';
import type { Deps } from '../platform/deps.ts';
import type { Payment } from './payment.ts';
import type { Workspace } from '../team/index.ts';
import { FairPool } from '../platform/limits/fairPool.ts';
import { KeyedListeners } from '../platform/http/keyedListeners.ts';

/**
 * How many requests of one workspace may wait for payment pages, if no other workspace has any. A page
 * takes a second or two.
 */
export const MAX_WAITING_PAYMENTS = 256;

/**
 * Waits until the provider has made or refused a payment's page.
 * @returns the payment as it then is. It is still `creating` when that took longer, or when the
 * workspace has its share of waiting requests.
 * @throws Error when there is no such payment
 */
export type FollowPayment = (
  workspace: Pick<Workspace, 'id'>,
  id: string,
  timeoutMs: number,
) => Promise<Payment>;

/**
 * Serves all waiting requests with one reader of the change feed.
 * @param stopping lets all waiting requests return at shutdown
 * @param waitMs for tests: how long to wait instead
 */
export function followPayments(
  store: ServiceStore,
  { store: port, bounds }: Pick<Deps, 'store' | 'bounds'>,
  stopping: AbortSignal,
  waitMs: (ms: number) => number = (ms) => ms,
): FollowPayment {
  const places = new FairPool(2 * MAX_WAITING_PAYMENTS);
  const listeners = new KeyedListeners<Payment | null>();
  void (async () => {
    for await (const change of store.changes({ signal: stopping })) {
      if ('gap' in change) listeners.tellAll(null);
      else if (change.collection === 'payments' && change.document)
        listeners.tell(change.id, change.document as Payment);
    }
  })();

  const read = async (id: string): Promise<Payment> => {
    const payment = await port.transaction((tx) => tx.payments.peek(id));
    if (!payment) throw new Error(`payment ${id} is missing`);
    return payment;
  };

  const follow = async (id: string, timeoutMs: number): Promise<Payment> => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    let last: Payment | null = null;
    const hear = (payment: Payment) => {
      last = payment;
      if (payment.status !== 'creating') resolve(undefined);
    };
    const look = () => void read(id).then(hear, reject);
    const stop = listeners.listen(id, (news) => (news === null ? look() : hear(news)));
    const timer = setTimeout(() => resolve(undefined), waitMs(timeoutMs));
    const onStopping = () => resolve(undefined);
    stopping.addEventListener('abort', onStopping);
    look(); // listening has begun, so no change is missed
    try {
      await promise;
      return last ?? (await read(id));
    } finally {
      stop();
      clearTimeout(timer);
      stopping.removeEventListener('abort', onStopping);
    }
  };

  return async (workspace, id, timeoutMs) => {
    const leave = stopping.aborted ? null : places.enter(workspace.id);
    if (leave !== null) return follow(id, timeoutMs).finally(leave);
    if (!stopping.aborted) bounds.reached('workspace_waiting_payments');
    return read(id);
  };
}
