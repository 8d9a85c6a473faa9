import { z } from 'zod';
import type { Deps } from '../../domain/deps.ts';
import { AppError } from '../../domain/errorCatalogue.ts';
import { cancelPaymentLink, markPaymentPaid } from '../../domain/operations/endPaymentLink.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { textSchema } from '../../http/contract/shared.ts';
import { parseForm, type FormValues } from '../forms.ts';
import { actorOf } from '../session.ts';
import { MAX_REFERENCE_CHARACTERS } from './paymentView.ts';

/**
 * What a member does with a payment link. Each returns the code of the notice that says what came
 * of it.
 */

const referenceSchema = z.object({
  reference: z.union([z.literal(''), textSchema(MAX_REFERENCE_CHARACTERS)]),
});

/** @throws not_found (404) */
export const cancelLink = (deps: Deps, signedIn: SignedIn, id: string): Promise<string> =>
  orEndedMeanwhile(async () => {
    await cancelPaymentLink(deps, signedIn.workspace, id);
    return 'payment-cancelled';
  });

/**
 * Somebody else who was first, or another reference, stays on record; that is said. @throws
 * not_found (404)
 */
export async function markLinkPaid(
  deps: Deps,
  signedIn: SignedIn,
  id: string,
  values: FormValues,
): Promise<string> {
  const form = parseForm(referenceSchema, { reference: (values.reference ?? '').trim() });
  if (!form.ok) return 'payment-reference-unusable';
  const reference = form.data.reference === '' ? null : form.data.reference;
  return orEndedMeanwhile(async () => {
    const { payment } = await markPaymentPaid(deps, signedIn.workspace, id, {
      reference,
      actor: actorOf(signedIn),
    });
    const isOurs =
      payment.markedPaidBy?.memberId === signedIn.member.id &&
      payment.providerReference === reference;
    return isOurs ? 'payment-marked' : 'payment-meanwhile';
  });
}

async function orEndedMeanwhile(act: () => Promise<string>): Promise<string> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof AppError && error.code === 'payment_not_open') return 'payment-meanwhile';
    throw error;
  }
}
