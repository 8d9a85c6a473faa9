import { count } from '../platform/counting/count.ts';
import type { Tx } from '../store/collections.ts';
import type { Payment } from './payment.ts';

declare module '../platform/counting/count.ts' {
  interface Counted {
    payment: readonly [what: 'made' | 'paid'];
    /** Minor units of the currency. */
    paid_amount: readonly [currency: string];
  }
}

export const countLink = (tx: Tx, { workspaceId }: Payment, now: Date): Promise<void> =>
  count(tx, workspaceId, now, ['payment', ['made']]);

export const countPaid = (
  tx: Tx,
  { workspaceId, amount, currency }: Payment,
  now: Date,
): Promise<void> =>
  count(tx, workspaceId, now, ['payment', ['paid']], ['paid_amount', [currency], amount]);
