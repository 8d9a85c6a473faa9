import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Payment } from '../payment.ts';
import type { Workspace } from '../workspace.ts';
import { getContact } from './loadConversation.ts';

/** A payment link with what its wire form needs. */
export interface PaymentView {
  readonly payment: Payment;
  readonly contact: Contact;
}

/** @throws not_found (404), also for another workspace's */
export async function loadPayment(tx: Tx, workspace: Workspace, id: string): Promise<PaymentView> {
  const payment = await tx.payments.get(id);
  if (!payment || payment.workspaceId !== workspace.id) throw notFound('payment link', id);
  return { payment, contact: await getContact(tx, payment.contactId) };
}
