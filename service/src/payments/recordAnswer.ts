import type { Tx } from '../domain/collections.ts';
import type { Actor } from '../domain/conversation.ts';
import type { Deps } from '../domain/deps.ts';
import { loadConversation } from '../domain/operations/loadConversation.ts';
import { lockPaymentWithConversation } from '../domain/operations/loadPayment.ts';
import { putPayment } from '../domain/operations/schedulePayment.ts';
import { putStageForward } from '../domain/operations/setFunnelStage.ts';
import { putExpired, putPaid } from '../domain/operations/settlePayment.ts';
import type { Payment } from '../domain/payment.ts';
import type { Workspace } from '../domain/workspace.ts';
import { afterAnswer, withPage } from './answerRules.ts';
import type { BegunWork } from './beginPaymentWork.ts';
import type { CheckResult, CreateResult } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

/**
 * Writes what a provider has answered, in one transaction. Where the payment has moved on since it
 * was asked, a fact still counts (it was paid; here is its page), and what else is to be done stays
 * as it is. A link that can be paid from now on moves the funnel to `payment_pending`.
 */
export const recordAnswer = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { payment: asked }: BegunWork,
  answer: CreateResult | CheckResult,
) =>
  store.transaction(async (tx): Promise<void> => {
    const now = clock.now();
    const payment = await lockPaymentWithConversation(tx, asked.id);
    const workspace = await tx.workspaces.peek(asked.workspaceId);
    if (!payment || !workspace) return;
    if (answer.type === 'paid') {
      const by: Actor = { type: 'api', name: paymentAdapterOf(payment.provider).label };
      await putPaid(tx, workspace, payment, { reference: null, by, markedPaidBy: null }, now);
    } else if (isStillAsked(payment, asked))
      await putAnswered(tx, workspace, payment, afterAnswer(payment, answer, now), now);
    else if (answer.type === 'created' && payment.providerUrl === null)
      await putAnswered(tx, workspace, payment, withPage(payment, answer, now), now);
    else if (answer.type === 'expired') await putExpired(tx, payment, now);
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
  await putStageForward(
    tx,
    await loadConversation(tx, workspace, payment.conversationId),
    'payment_pending',
    payment.createdBy,
    now,
  );
}

const isStillAsked = (
  payment: Payment,
  { work }: BegunWork['payment'],
): payment is BegunWork['payment'] =>
  payment.work !== null &&
  payment.work.task === work.task &&
  payment.work.attempts === work.attempts;
