import { collection } from '../store/store.ts';
import type { Payment, PaymentAccount } from './payment.ts';

declare module '../store/collections.ts' {
  interface Collections {
    payments: Payment;
    paymentAccounts: PaymentAccount;
  }
}

export const paymentCollections = {
  payments: collection<Payment>({
    indexes: [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['conversationId'] },
      { on: ['conversationId', 'status'] },
      { on: ['conversationId'], orderBy: 'afterMessage' },
      { on: ['pageTokenHash'], unique: true },
    ],
  }),
  paymentAccounts: collection<PaymentAccount>({
    indexes: [{ on: ['workspaceId'] }, { on: ['workspaceId', 'provider'], unique: true }],
  }),
};
