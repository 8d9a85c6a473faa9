import { hashToken } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import type { Payment } from '../payment.ts';
import type { Workspace } from '../workspace.ts';
import { findPaymentAccount } from './paymentAccounts.ts';
import { putPayment } from './paymentLinks.ts';

/** What a customer sees of a payment link. */
export interface PaymentPage {
  readonly workspace: Workspace;
  readonly payment: Payment;
  /**
   * How to pay, where no provider takes the money; null when the workspace says nothing (any more).
   */
  readonly instructions: string | null;
}

/**
 * A customer who loads the page again and again is asked about at the provider once in this time.
 */
const CHECK_EVERY_MS = 5000;

/**
 * The page behind a payment link; null when no link has this token.
 * @param isBack the customer comes from the provider: it is asked whether they have paid, so that
 * nothing hangs on its webhook alone; so it is while their bank has still to confirm
 */
export const findPaymentPage = (
  { store, clock }: Deps,
  pageToken: string,
  { isBack }: { isBack: boolean },
) =>
  store.transaction(async (tx): Promise<PaymentPage | null> => {
    const [payment] = await tx.payments.find({
      where: { pageTokenHash: hashToken(pageToken) },
      limit: 1,
    });
    const workspace = payment && (await tx.workspaces.peek(payment.workspaceId));
    if (!workspace) return null;
    if (isBack || payment.confirmingSince !== undefined)
      await askProvider(tx, payment, clock.now());
    const account = await findPaymentAccount(tx, workspace.id, payment.provider);
    return { workspace, payment, instructions: account?.settings.instructions ?? null };
  });

async function askProvider(tx: Tx, payment: Payment, now: Date): Promise<void> {
  if (payment.status !== 'open' || payment.providerUrl === null || payment.work !== null) return;
  if (payment.checkedAt !== null && Date.parse(payment.checkedAt) + CHECK_EVERY_MS > now.getTime())
    return;
  await putPayment(tx, { ...payment, work: { task: 'check', attempts: 0, runAt: timestamp(now) } });
}
