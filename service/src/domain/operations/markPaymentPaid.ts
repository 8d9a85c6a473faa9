import type { Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { notOpen } from './cancelPaymentLink.ts';
import { loadPayment, lockPaymentWithConversation, type PaymentView } from './loadPayment.ts';
import { putPaid } from './settlePayment.ts';

/**
 * Puts on record that money has reached the workspace outside of the service. Paid once: one that
 * is paid already comes back as it is. One that has expired can be marked too.
 * @param paid.reference what the money is found by: the number of a bank transfer
 * @throws not_found (404), payment_not_open (409) when it was cancelled, or its provider takes the
 * money
 */
export const markPaymentPaid = (
  { store, clock, payments }: Deps,
  workspace: Workspace,
  id: string,
  { reference, actor }: { reference: string | null; actor: Actor },
) =>
  store.transaction(async (tx): Promise<PaymentView> => {
    await lockPaymentWithConversation(tx, id);
    const view = await loadPayment(tx, workspace, id);
    const { payment } = view;
    if (payments.rulesOf(payment.provider).isRemote)
      throw notOpen(
        payment,
        `Whether it was paid is told by ${payment.provider}; only manual links are marked.`,
      );
    if (payment.status === 'paid') return view;
    if (payment.status !== 'open' && payment.status !== 'expired')
      throw notOpen(payment, 'It cannot be marked as paid.');
    return {
      ...view,
      payment: await putPaid(
        tx,
        workspace,
        payment,
        { reference, by: actor, markedPaidBy: actor },
        clock.now(),
      ),
    };
  });
