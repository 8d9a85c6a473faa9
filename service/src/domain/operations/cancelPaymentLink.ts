import { timestamp } from '../clock.ts';
import type { Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import type { Payment } from '../payment.ts';
import type { Workspace } from '../workspace.ts';
import { loadPayment, type PaymentView } from './loadPayment.ts';
import { putPayment } from './schedulePayment.ts';

/**
 * Cancels a payment link: nobody is led to pay by it any more, and its provider is told so. Whoever
 * pays there in the same moment has paid. One that is cancelled already comes back as it is.
 * @throws not_found (404), payment_not_open (409)
 */
export const cancelPaymentLink = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  _actor: Actor,
) =>
  store.transaction(async (tx): Promise<PaymentView> => {
    const view = await loadPayment(tx, workspace, id);
    if (view.payment.status === 'cancelled') return view;
    const payment = cancel(view.payment, clock.now());
    await putPayment(tx, payment);
    return { ...view, payment };
  });

/** A page that its provider has not told us of is known to nobody: there is nothing to close. */
function cancel(payment: Payment, now: Date): Payment {
  if (payment.status !== 'open' && payment.status !== 'creating')
    throw notOpen(payment, 'It cannot be cancelled any more.');
  const at = timestamp(now);
  const isAtProvider = payment.providerUrl !== null;
  return {
    ...payment,
    status: 'cancelled',
    work: isAtProvider ? { task: 'expire', attempts: 0, runAt: at } : null,
    updatedAt: at,
  };
}

/** payment_not_open (409), with its status in words. */
export function notOpen(payment: Payment, why: string): AppError {
  return new AppError(
    'payment_not_open',
    `Payment link ${payment.id} ${statusInWords(payment)}. ${why} ${ERROR_CATALOGUE.payment_not_open.fix}`,
  );
}

function statusInWords({ status, paidAt, expiresAt, providerUrl }: Payment): string {
  switch (status) {
    case 'creating':
      return 'is being made';
    case 'open':
      return 'is open';
    case 'paid':
      return `was paid at ${paidAt}`;
    case 'expired':
      return `expired at ${expiresAt}`;
    case 'cancelled':
      return 'was cancelled';
    case 'failed':
      return providerUrl === null
        ? 'was refused by its provider'
        : "was refused by the customer's bank";
  }
}
