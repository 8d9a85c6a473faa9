import type { Tx } from '../collections.ts';
import type { Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import type { Payment, PaymentAccount, PaymentNews } from '../payment.ts';
import { lockPaymentWithConversation } from './loadPayment.ts';
import { putConfirming, putExpired, putPaid, putRefusedByBank } from './settlePayment.ts';

/**
 * Takes in what a provider told of a payment by itself, in one transaction. The same news again, or
 * late, changes nothing; that it was paid counts whatever the payment's status is: the money has
 * moved.
 * @param account whose secret the news was verified with: it speaks for its own payments only
 * @param by who is named in the thread
 * @returns false when it is about no payment of this account, or about another page than the
 * payment's
 */
export const applyPaymentNews = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  account: PaymentAccount,
  news: PaymentNews,
  by: Actor,
) =>
  store.transaction(async (tx): Promise<boolean> => {
    const payment = await findPayment(tx, account, news);
    const workspace = payment && (await tx.workspaces.peek(payment.workspaceId));
    if (!workspace) return false;
    const now = clock.now();
    if (news.state === 'paid')
      await putPaid(
        tx,
        workspace,
        payment,
        { reference: news.reference, by, markedPaidBy: null },
        now,
      );
    if (news.state === 'expired') await putExpired(tx, payment, now);
    if (news.state === 'confirming') await putConfirming(tx, payment, now);
    if (news.state === 'failed') await putRefusedByBank(tx, payment, now);
    return true;
  });

/** News can come before the answer that names the page: then the payment has no reference yet. */
async function findPayment(
  tx: Tx,
  { workspaceId, provider }: PaymentAccount,
  { paymentId, reference }: PaymentNews,
): Promise<Payment | null> {
  const payment = await lockPaymentWithConversation(tx, paymentId);
  if (payment?.workspaceId !== workspaceId || payment.provider !== provider) return null;
  return payment.providerReference === null || payment.providerReference === reference
    ? payment
    : null;
}
