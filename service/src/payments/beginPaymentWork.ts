import { timestamp } from '../domain/clock.ts';
import type { Deps } from '../domain/deps.ts';
import { findPaymentAccount } from '../domain/operations/findPaymentAccount.ts';
import { putPayment, schedulePayment } from '../domain/operations/schedulePayment.ts';
import { putExpired } from '../domain/operations/settlePayment.ts';
import type { Payment, PaymentAccount, PaymentWork } from '../domain/payment.ts';
import { isOver, nextWorkAt } from '../domain/paymentWork.ts';
import type { Job } from '../store/store.ts';
import { createFailed, withoutAccount } from './answerRules.ts';
import { paymentAdapterOf } from './registry.ts';

/** A payment about which its provider is to be asked now; the try is on record already. */
export interface BegunWork {
  readonly payment: Payment & { readonly work: PaymentWork };
  readonly account: PaymentAccount;
}

/**
 * Looks at a payment whose time has come, and puts on record that its provider is asked. Ends what
 * needs nobody's answer: a manual link whose time is over, work for a provider that was removed.
 * @param job the claimed one: its time has come, whatever the clock on the wall has been set to
 * since
 * @returns null when nobody is to be asked
 */
export const beginPaymentWork = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { id, runAt }: Pick<Job, 'id' | 'runAt'>,
) =>
  store.transaction(async (tx): Promise<BegunWork | null> => {
    const now = clock.now();
    const payment = await tx.payments.get(id);
    if (!payment) return tx.jobs.complete(id).then(() => null);
    const dueAt = nextWorkAt(payment);
    if (dueAt === null || dueAt > Math.max(now.getTime(), runAt))
      return schedulePayment(tx, payment).then(() => null);
    const { isRemote, label } = paymentAdapterOf(payment.provider);
    if (!isRemote) return putExpired(tx, payment, now).then(() => null);

    // Its time is over: the provider says whether it was paid, and else closes its page.
    const work = payment.work ?? { task: 'expire', attempts: 0, runAt: timestamp(now) };
    const account = await findPaymentAccount(tx, payment.workspaceId, payment.provider);
    if (!account)
      return putPayment(tx, withoutAccount({ ...payment, work }, label, now)).then(() => null);
    if (work.task === 'create' && isOver(payment, now)) {
      return putPayment(
        tx,
        createFailed(
          payment,
          payment.error ?? `${label} could not be asked before the link's time was over.`,
          now,
        ),
      ).then(() => null);
    }
    const begun = { ...payment, work: { ...work, attempts: work.attempts + 1 } };
    await tx.payments.put(begun); // its job stays claimed: after a crash it is done again
    return { payment: begun, account };
  });
