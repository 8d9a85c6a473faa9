import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Payment } from '../payment.ts';
import type { Workspace } from '../workspace.ts';

/** A payment link with what its wire form needs. */
export interface PaymentView {
  readonly payment: Payment;
  readonly contact: Contact;
}

/**
 * For changing it: locked until the transaction ends. @throws not_found (404), also for another
 * workspace's
 */
export const loadPayment = async (tx: Tx, workspace: Workspace, id: string): Promise<PaymentView> =>
  viewPayment(tx, ofWorkspace(await tx.payments.get(id), workspace, id));

/** As it stands, without a lock. @throws not_found (404), also for another workspace's */
export const peekPayment = async (tx: Tx, workspace: Workspace, id: string): Promise<PaymentView> =>
  viewPayment(tx, ofWorkspace(await tx.payments.peek(id), workspace, id));

/**
 * For a change that moves the conversation's funnel too: the conversation is locked first, then the
 * payment.
 * @returns null when there is no such payment
 * @see docs/decisions/0033
 */
export async function lockPaymentWithConversation(tx: Tx, id: string): Promise<Payment | null> {
  const known = await tx.payments.peek(id);
  if (!known) return null;
  await tx.conversations.get(known.conversationId);
  return tx.payments.get(id);
}

/** With its contact. @throws not_found (404) when it is being removed */
export async function viewPayment(tx: Tx, payment: Payment): Promise<PaymentView> {
  const contact = await tx.contacts.peek(payment.contactId);
  if (!contact) throw notFound('payment link', payment.id);
  return { payment, contact };
}

function ofWorkspace(found: Payment | null, workspace: Workspace, id: string): Payment {
  if (found?.workspaceId !== workspace.id) throw notFound('payment link', id);
  return found;
}
