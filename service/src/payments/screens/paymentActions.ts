import type { Deps } from '../../platform/deps.ts';
import { cancelPaymentLink, markPaymentPaid } from '../operations/endPaymentLink.ts';
import { type SignedIn, actorOf } from '../../team/index.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { isError } from '../../platform/html/errorPage.ts';
import type { FormValues } from '../../platform/html/forms.ts';
import { MAX_REFERENCE_CHARACTERS } from '../payment.ts';

/** What a member can do with a payment link. Each action returns the code of its notice. */

/** @throws not_found (404) */
export const cancelLink = (deps: Deps, signedIn: SignedIn, id: string): Promise<string> =>
  unlessEnded(async () => {
    await cancelPaymentLink(deps, signedIn.workspace, id);
    return 'payment-cancelled';
  });

/**
 * Marks a link as paid. If someone else was faster, their mark and reference stay.
 * @throws not_found (404)
 */
export async function markLinkPaid(
  deps: Deps,
  signedIn: SignedIn,
  id: string,
  values: FormValues,
): Promise<string> {
  const reference = (values.reference ?? '').trim() || null;
  if (!textSchema(MAX_REFERENCE_CHARACTERS).nullable().safeParse(reference).success)
    return 'payment-reference-too-long';
  return unlessEnded(async () => {
    const { payment } = await markPaymentPaid(deps, signedIn.workspace, id, {
      reference,
      actor: actorOf(signedIn),
    });
    const isOurs =
      payment.markedPaidBy?.memberId === signedIn.member.id &&
      payment.providerReference === reference;
    return isOurs ? 'payment-marked' : 'payment-already-ended';
  });
}

async function unlessEnded(act: () => Promise<string>): Promise<string> {
  try {
    return await act();
  } catch (error) {
    if (isError(error, 'payment_not_open')) return 'payment-already-ended';
    throw error;
  }
}
