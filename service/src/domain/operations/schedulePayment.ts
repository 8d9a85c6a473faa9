import type { Tx } from '../collections.ts';
import { PAYMENT_QUEUE, type Payment } from '../payment.ts';
import { nextWorkAt } from '../paymentWork.ts';
import { workGroup } from '../workGroup.ts';

/**
 * Saves a payment, and puts its next piece of work into the queue or takes it out. A payment has at
 * most one job, named after it; when it runs follows from the payment alone.
 */
export async function putPayment(tx: Tx, payment: Payment): Promise<void> {
  await tx.payments.put(payment);
  await schedulePayment(tx, payment);
}

export async function schedulePayment(tx: Tx, payment: Payment): Promise<void> {
  const runAt = nextWorkAt(payment);
  if (runAt === null) return tx.jobs.complete(payment.id);
  await tx.jobs.enqueue({
    id: payment.id,
    queue: PAYMENT_QUEUE,
    group: workGroup(payment.workspaceId, payment.provider),
    runAt,
    rank: 0,
    data: {},
  });
}
