import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import {
  emitEvent,
  isForgotten,
  loadConversation,
  advanceFunnelStage,
} from '../../conversations/index.ts';
import { paymentPayload } from '../payload.ts';
import { errorWithFix, type AppError } from '../../platform/http/errorCatalogue.ts';
import {
  cancel,
  confirm,
  expire,
  isPayable,
  refuseByBank,
  withoutWork,
  type Payment,
  type PaymentAccount,
  type PaymentUpdate,
} from '../payment.ts';
import { countPaid } from '../counted.ts';
import { paymentAdapterOf } from '../registry.ts';
import type { Workspace } from '../../team/index.ts';
import {
  lockPaymentLink,
  lockPaymentWithConversation,
  putPayment,
  type PaymentView,
} from './paymentLinks.ts';

/**
 * Cancels a payment link and has its provider close the page. If the customer pays at the same moment,
 * the payment counts. A link that is cancelled already is returned as it is.
 * @throws not_found (404), payment_not_open (409)
 */
export const cancelPaymentLink = ({ store, clock }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx): Promise<PaymentView> => {
    const view = await lockPaymentLink(tx, workspace, id);
    const { payment } = view;
    if (payment.status === 'cancelled') return view;
    if (payment.status !== 'open' && payment.status !== 'creating')
      throw notOpen(payment, 'It cannot be cancelled any more.');
    const cancelled = cancel(payment, clock.now());
    await putPayment(tx, cancelled);
    return { ...view, payment: cancelled };
  });

/**
 * Records that a manual link was paid. A link that is paid already is returned as it is; one that
 * has expired can be marked too.
 * @param paid.reference how to find the money, such as the number of a bank transfer
 * @throws not_found (404), payment_not_open (409) when it was cancelled or its provider takes the
 * money
 */
export const markPaymentPaid = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  { reference, actor }: { reference: string | null; actor: Actor },
) =>
  store.transaction(async (tx): Promise<PaymentView> => {
    await lockPaymentWithConversation(tx, id);
    const view = await lockPaymentLink(tx, workspace, id);
    const { payment } = view;
    if (paymentAdapterOf(payment.provider).isRemote)
      throw notOpen(
        payment,
        `Only manual links can be marked as paid; ${payment.provider} reports its payments itself.`,
      );
    if (payment.status === 'paid') return view;
    if (payment.status !== 'open' && payment.status !== 'expired')
      throw notOpen(payment, 'It cannot be marked as paid.');
    const paid = { reference, by: actor, markedPaidBy: actor };
    return { ...view, payment: await completePayment(tx, workspace, payment, paid, clock.now()) };
  });

/**
 * Applies what a provider's webhook says about a payment, in one transaction. A repeated or late
 * update changes nothing, with one exception: `paid` counts whatever the payment's status, as the
 * money has moved.
 * @param account the account whose secret verified the update; it can change only its own payments
 * @param by who is named in the thread
 * @returns false when the account has no such payment, or the update is about another page
 */
export const applyPaymentUpdate = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { workspaceId, provider }: PaymentAccount,
  { paymentId, reference, state }: PaymentUpdate,
  by: Actor,
) =>
  store.transaction(async (tx): Promise<boolean> => {
    const payment = await lockPaymentWithConversation(tx, paymentId);
    if (payment?.workspaceId !== workspaceId || payment.provider !== provider) return false;
    // An update can arrive before the answer that names the page.
    const isItsPage = payment.providerReference === null || payment.providerReference === reference;
    const workspace = await tx.workspaces.peek(workspaceId);
    if (!isItsPage || !workspace) return false;
    const now = clock.now();
    if (state === 'paid')
      await completePayment(tx, workspace, payment, { reference, by, markedPaidBy: null }, now);
    if (state === 'expired') await putIfChanged(tx, payment, expire(payment, now));
    if (state === 'confirming') await putIfChanged(tx, payment, confirm(payment, now));
    if (state === 'failed') await putIfChanged(tx, payment, refuseByBank(payment, now));
    return true;
  });

const putIfChanged = async (tx: Tx, before: Payment, after: Payment): Promise<void> =>
  after === before ? undefined : putPayment(tx, after);

/**
 * Records that a payment was paid, moves the funnel to `customer` and emits `payment.paid`. A
 * payment is paid once: one that is paid already is returned as it is. A cancelled or expired link
 * can be paid too, since the money has moved.
 * @param paid.by who is named in the thread: a team member, or the provider
 * @see docs/events-and-signatures.md
 */
export async function completePayment(
  tx: Tx,
  workspace: Workspace,
  payment: Payment,
  paid: { reference: string | null; by: Actor; markedPaidBy: Actor | null },
  now: Date,
): Promise<Payment> {
  if (payment.status === 'paid') return payment;
  const completed: Payment = withoutWork(
    {
      ...payment,
      status: 'paid',
      providerReference: paid.reference ?? payment.providerReference,
      paidAt: timestamp(now),
      markedPaidBy: paid.markedPaidBy,
      error: null,
    },
    now,
  );
  await putPayment(tx, completed);
  await countPaid(tx, completed, now);
  const contact = await tx.contacts.peek(payment.contactId);
  // The conversation of a forgotten contact is gone. That the money has moved is recorded above.
  if (!contact || isForgotten(contact)) return completed;
  const view = await loadConversation(tx, workspace, payment.conversationId);
  const conversation = await advanceFunnelStage(tx, view, 'customer', paid.by, now);
  const event = { name: 'payment.paid', payment: paymentPayload(completed, view.contact) } as const;
  await emitEvent(tx, event, { ...view, conversation }, now);
  return completed;
}

/**
 * Locks a link's conversation and then the link, so that the link stays open until the transaction
 * ends.
 * @throws not_found (404); payment_not_open (409), also when its time is over or its bank confirms
 */
export async function lockOpenPaymentLink(
  tx: Tx,
  workspace: Workspace,
  id: string,
  now: Date,
): Promise<void> {
  await lockPaymentWithConversation(tx, id);
  const { payment } = await lockPaymentLink(tx, workspace, id);
  if (!isPayable(payment, now)) throw notOpen(payment, 'It cannot be sent any more.');
}

const notOpen = (payment: Payment, why: string): AppError =>
  errorWithFix('payment_not_open', `Payment link ${payment.id} ${statusInWords(payment)}. ${why}`);

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
