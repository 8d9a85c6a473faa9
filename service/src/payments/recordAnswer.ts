import type { Actor } from '../domain/conversation.ts';
import type { Deps } from '../domain/deps.ts';
import { putPayment } from '../domain/operations/schedulePayment.ts';
import { putExpired, putPaid } from '../domain/operations/settlePayment.ts';
import type { Payment } from '../domain/payment.ts';
import { afterAnswer, withPage } from './answerRules.ts';
import type { BegunWork } from './beginPaymentWork.ts';
import type { CheckResult, CreateResult } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

/**
 * Writes what a provider has answered, in one transaction. Where the payment has moved on since it was
 * asked, a fact still counts (it was paid; here is its page), and what else is to be done stays as it is.
 */
export const recordAnswer = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, { payment: asked }: BegunWork, answer: CreateResult | CheckResult) =>
  store.transaction(async (tx): Promise<void> => {
    const now = clock.now();
    const payment = await tx.payments.get(asked.id);
    const workspace = await tx.workspaces.get(asked.workspaceId);
    if (!payment || !workspace) return;
    if (answer.type === 'paid') {
      const by: Actor = { type: 'api', name: paymentAdapterOf(payment.provider).label };
      await putPaid(tx, workspace, payment, { reference: null, by, markedPaidBy: null }, now);
    } else if (isStillAsked(payment, asked)) await putPayment(tx, afterAnswer(payment, answer, now));
    else if (answer.type === 'created' && payment.providerUrl === null) await putPayment(tx, withPage(payment, answer, now));
    else if (answer.type === 'expired') await putExpired(tx, payment, now);
  });

const isStillAsked = (payment: Payment, { work }: BegunWork['payment']): payment is BegunWork['payment'] =>
  payment.work !== null && payment.work.task === work.task && payment.work.attempts === work.attempts;
