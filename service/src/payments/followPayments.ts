import type { Deps } from '../platform/deps.ts';
import type { Payment } from './payment.ts';
import type { Workspace } from '../team/index.ts';
import { FairPool } from '../platform/limits/fairPool.ts';
import type { FollowDocument } from '../platform/http/followDocuments.ts';

/**
 * How many requests of one workspace may wait for payment pages, if no other workspace has any. A page
 * takes a second or two.
 */
export const MAX_WAITING_PAYMENTS = 256;

/**
 * Waits until the provider has made or refused a payment's page.
 * @returns the payment as it then is. It is still `creating` if that took longer than `timeoutMs`,
 * or if too many requests of the workspace already wait.
 * @throws Error when there is no such payment
 */
export type FollowPayment = (
  workspace: Pick<Workspace, 'id'>,
  id: string,
  timeoutMs: number,
) => Promise<Payment>;

/** @param waitMs for tests: how long to wait instead of `timeoutMs` */
export function followPayments(
  follow: FollowDocument,
  { store, bounds }: Pick<Deps, 'store' | 'bounds'>,
  waitMs: (ms: number) => number = (ms) => ms,
): FollowPayment {
  const places = new FairPool(2 * MAX_WAITING_PAYMENTS);

  const read = async (id: string): Promise<Payment> => {
    const payment = await store.transaction((tx) => tx.payments.peek(id));
    if (!payment) throw new Error(`payment ${id} is missing`);
    return payment;
  };
  const isMade = async (id: string) => (await read(id)).status !== 'creating';

  return async (workspace, id, timeoutMs) => {
    const leave = places.enter(workspace.id);
    if (leave === null) bounds.reached('workspace_waiting_payments');
    else await follow(id, () => isMade(id), waitMs(timeoutMs)).finally(leave);
    return read(id);
  };
}
