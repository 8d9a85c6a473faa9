import type { AskedPaymentLink } from '../builtInTools.ts';
import type { Tx } from '../collections.ts';
import type { Payment } from '../payment.ts';

const MAX_OPEN_LINKS = 100;

/**
 * The newest link of a conversation that can be paid and is for the very same; null when there is
 * none.
 */
export async function findOpenPaymentLink(
  tx: Tx,
  conversationId: string,
  { amount, currency, description }: AskedPaymentLink,
  now: Date,
): Promise<Payment | null> {
  const isSame = (payment: Payment) =>
    payment.amount === amount &&
    payment.currency === currency &&
    payment.description.toLowerCase() === description.toLowerCase() &&
    Date.parse(payment.expiresAt) > now.getTime();
  for (const status of ['open', 'creating'] as const) {
    const found = (
      await tx.payments.find({
        where: { conversationId, status },
        direction: 'desc',
        limit: MAX_OPEN_LINKS,
      })
    ).find(isSame);
    if (found) return found;
  }
  return null;
}
