import type { Tx } from '../store/collections.ts';
import type { Deps } from '../platform/deps.ts';
import { completePayment } from './operations/endPaymentLink.ts';
import { advanceFunnelStage, isForgotten, loadConversation } from '../conversations/index.ts';
import { findPaymentAccount } from './operations/paymentAccounts.ts';
import {
  lockPaymentWithConversation,
  putPayment,
  schedulePayment,
} from './operations/paymentLinks.ts';
import {
  expire,
  isOver,
  newWork,
  nextWorkAt,
  type Payment,
  type PaymentAccount,
  type PaymentInWork,
} from './payment.ts';
import type { Workspace } from '../team/index.ts';
import type { Job } from '../store/store.ts';
import { afterAnswer, createFailed, withPage, withoutAccount } from './afterAnswer.ts';
import type { CheckResult, CreateResult } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

/** A question to ask a provider now. The attempt is already recorded. */
export interface BegunAttempt {
  readonly payment: PaymentInWork;
  readonly account: PaymentAccount;
}

/**
 * Looks at a payment that is due and records that its provider is asked. Ends what needs no
 * provider: an expired manual link, or work for a provider that was removed.
 * @param job the claimed job. It is due even if the wall clock has been set back since.
 * @returns null when nobody is to be asked
 */
export const beginAttempt = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { id, runAt }: Pick<Job, 'id' | 'runAt'>,
) =>
  store.transaction(async (tx): Promise<BegunAttempt | null> => {
    const now = clock.now();
    const payment = await tx.payments.get(id);
    const dueAt = payment && nextWorkAt(payment);
    if (!payment) await tx.jobs.complete(id);
    else if (dueAt === null || dueAt > Math.max(now.getTime(), runAt))
      await schedulePayment(tx, payment);
    else return beginDue(tx, payment, now);
    return null;
  });

async function beginDue(tx: Tx, payment: Payment, now: Date): Promise<BegunAttempt | null> {
  // A payment that is due without work is an open link whose time is over: its provider says
  // whether it was paid, and closes the page if not.
  const due = { ...payment, work: payment.work ?? newWork('expire', now) };
  const account = await findPaymentAccount(tx, payment.workspaceId, payment.provider);
  const ended = endWithoutProvider(due, account, now);
  if (ended) await putPayment(tx, ended);
  if (ended || !account) return null;
  const begun = { ...due, work: { ...due.work, attempts: due.work.attempts + 1 } };
  await tx.payments.put(begun); // its job stays claimed: after a crash the attempt is made again
  return { payment: begun, account };
}

/** The payment as it ends when its provider cannot be asked; null when it can. */
function endWithoutProvider(
  due: PaymentInWork,
  account: PaymentAccount | null,
  now: Date,
): Payment | null {
  const { isRemote, label } = paymentAdapterOf(due.provider);
  if (!isRemote) return expire(due, now);
  if (!account) return withoutAccount(due, label, now);
  if (due.work.task !== 'create' || !isOver(due, now)) return null;
  return createFailed(
    due,
    due.error ?? `${label} could not be reached before the link expired.`,
    now,
  );
}

/**
 * Records a provider's answer, in one transaction. If the payment has moved on since the question,
 * only facts still count: that it was paid or has expired, or the address of its page. A link that
 * can be paid from now on moves the funnel to `payment_pending`.
 */
export const recordAnswer = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { payment: asked }: BegunAttempt,
  answer: CreateResult | CheckResult,
) =>
  store.transaction(async (tx): Promise<void> => {
    const now = clock.now();
    const payment = await lockPaymentWithConversation(tx, asked.id);
    const workspace = await tx.workspaces.peek(asked.workspaceId);
    if (!payment || !workspace) return;
    if (answer.type === 'paid') {
      const by = { type: 'api', name: paymentAdapterOf(payment.provider).label } as const;
      const paid = { reference: null, by, markedPaidBy: null };
      await completePayment(tx, workspace, payment, paid, now);
    } else if (isStillAsked(payment, asked))
      await putAnswered(tx, workspace, payment, afterAnswer(payment, answer, now), now);
    else if (answer.type === 'created' && payment.providerUrl === null)
      await putAnswered(tx, workspace, payment, withPage(payment, answer, now), now);
    else if (answer.type === 'expired') await putPayment(tx, expire(payment, now));
  });

async function putAnswered(
  tx: Tx,
  workspace: Workspace,
  before: Payment,
  payment: Payment,
  now: Date,
): Promise<void> {
  await putPayment(tx, payment);
  if (before.status !== 'creating' || payment.status !== 'open') return;
  const contact = await tx.contacts.peek(payment.contactId);
  if (!contact || isForgotten(contact)) return;
  const view = await loadConversation(tx, workspace, payment.conversationId);
  await advanceFunnelStage(tx, view, 'payment_pending', payment.createdBy, now);
}

const isStillAsked = (payment: Payment, { work }: PaymentInWork): payment is PaymentInWork =>
  payment.work?.task === work.task && payment.work.attempts === work.attempts;
