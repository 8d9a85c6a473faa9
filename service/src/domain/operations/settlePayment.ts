import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Actor } from '../conversation.ts';
import { emitEvent } from '../emitEvent.ts';
import type { Payment } from '../payment.ts';
import type { Workspace } from '../workspace.ts';
import { loadConversation } from './loadConversation.ts';
import { putPayment } from './schedulePayment.ts';
import { putStageForward } from './setFunnelStage.ts';

const REFUSED_BY_BANK =
  "The customer's bank refused the payment: nothing was paid. Make a new link.";

/**
 * Puts on record that a payment was paid: the funnel moves to `customer` (and, where it was never
 * there before, through `qualified`), then `payment.paid` is emitted. A payment is paid once: one
 * that is paid already comes back as it is. What was cancelled or had expired and is paid all the
 * same, is paid: the money has moved.
 * @param by who is named in the thread: who marked it, or the provider
 * @see design section 3, Payments; spec section 6
 */
export async function putPaid(
  tx: Tx,
  workspace: Workspace,
  payment: Payment,
  {
    reference,
    by,
    markedPaidBy,
  }: { reference: string | null; by: Actor; markedPaidBy: Actor | null },
  now: Date,
): Promise<Payment> {
  if (payment.status === 'paid') return payment;
  const at = timestamp(now);
  const paid: Payment = {
    ...payment,
    status: 'paid',
    providerReference: reference ?? payment.providerReference,
    paidAt: at,
    markedPaidBy,
    error: null,
    work: null,
    updatedAt: at,
  };
  await putPayment(tx, paid);
  const view = await loadConversation(tx, workspace, payment.conversationId);
  const conversation = await putStageForward(tx, view, 'customer', by, now);
  await emitEvent(tx, { name: 'payment.paid', payment: paid }, { ...view, conversation }, now);
  return paid;
}

/**
 * Puts on record that a payment's time is over, or that its provider has closed it. What was
 * cancelled stays so, and its provider has no more to be told; of any other that is not open
 * nothing changes.
 */
export async function putExpired(tx: Tx, payment: Payment, now: Date): Promise<Payment> {
  if (payment.status !== 'open' && payment.status !== 'cancelled') return payment;
  const ended: Payment =
    payment.status === 'open'
      ? { ...payment, status: 'expired', work: null, updatedAt: timestamp(now) }
      : { ...payment, work: null };
  await putPayment(tx, ended);
  return ended;
}

/**
 * Puts on record that the customer has finished at the provider, and that a bank has still to
 * confirm.
 */
export async function putConfirming(tx: Tx, payment: Payment, now: Date): Promise<Payment> {
  if (
    (payment.status !== 'open' && payment.status !== 'cancelled') ||
    payment.confirmingSince !== undefined
  )
    return payment;
  const at = timestamp(now);
  const confirming: Payment = { ...payment, confirmingSince: at, updatedAt: at };
  await putPayment(tx, confirming);
  return confirming;
}

/**
 * Puts on record that the customer's bank has refused: nothing more comes of this link. What was
 * cancelled stays so.
 */
export async function putRefusedByBank(tx: Tx, payment: Payment, now: Date): Promise<Payment> {
  if (payment.status !== 'open' && payment.status !== 'cancelled') return payment;
  const refused: Payment =
    payment.status === 'open'
      ? {
          ...payment,
          status: 'failed',
          error: REFUSED_BY_BANK,
          work: null,
          updatedAt: timestamp(now),
        }
      : { ...payment, work: null };
  await putPayment(tx, refused);
  return refused;
}
