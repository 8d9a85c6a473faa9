import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import type { Payment } from '../domain/payment.ts';

/**
 * Waits until a payment's page has been made or refused.
 * @returns the payment as it then stands; still `creating` when it took longer
 * @throws Error when there is none with this id
 */
export type FollowPayment = (id: string, timeoutMs: number) => Promise<Payment>;

/** @param stopping ends all waiting */
export const followPayments = (store: ServiceStore, { store: port }: Pick<Deps, 'store'>, stopping: AbortSignal): FollowPayment =>
  async (id, timeoutMs) => {
    const given = new AbortController();
    const changes = store.changes({ signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs), given.signal]) }); // counts from here on: nothing is missed
    const read = async (): Promise<Payment> => {
      const payment = await port.transaction((tx) => tx.payments.peek(id));
      if (!payment) throw new Error(`payment ${id} is missing`);
      return payment;
    };
    try {
      let payment = await read();
      if (payment.status !== 'creating') return payment;
      for await (const change of changes) {
        if ('gap' in change) payment = await read();
        else if (change.collection === 'payments' && change.id === id && change.document) payment = change.document as Payment;
        if (payment.status !== 'creating') break;
      }
      return payment;
    } finally {
      given.abort();
    }
  };
