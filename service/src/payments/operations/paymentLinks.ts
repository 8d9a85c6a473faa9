import { hashToken } from '../../platform/security/tokens.ts';
import type { Tx } from '../../store/collections.ts';
import { type Contact, withContacts } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { maskText } from '../../platform/masking.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { newestFirst, type Page, type PageRequest } from '../../platform/http/page.ts';
import {
  PAYMENT_QUEUE,
  isOver,
  newWork,
  nextWorkAt,
  type Payment,
  type PaymentLinkRequest,
} from '../payment.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Workspace } from '../../team/index.ts';
import { findPaymentAccount } from './paymentAccounts.ts';

/** A payment link with its contact, whose details the API masks. */
export interface PaymentView {
  readonly payment: Payment;
  readonly contact: Contact;
}

/** @throws not_found (404) */
export const getPaymentLink = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => viewPayment(tx, workspace, id, await tx.payments.peek(id)));

type PaymentFilter = Partial<Pick<Payment, 'conversationId' | 'status'>>;

/** Lists the workspace's payment links, newest first. */
export const listPaymentLinks = (
  { store }: Deps,
  workspace: Workspace,
  filter: PaymentFilter,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<PaymentView>> => {
    const found = await newestFirst(tx.payments, { workspaceId: workspace.id, ...filter }, page);
    const items = (await withContacts(tx, found.items)).map(([payment, contact]) => ({
      payment,
      contact,
    }));
    return { ...found, items };
  });

const MAX_OPEN_LINKS_READ = 100;

/**
 * Finds a link of the conversation for the same amount and purpose that is open, or else is being
 * made; null if none.
 */
export async function findOpenPaymentLink(
  tx: Tx,
  conversationId: string,
  { amount, currency, description }: PaymentLinkRequest,
  now: Date,
): Promise<Payment | null> {
  const isSame = (payment: Payment) =>
    payment.amount === amount &&
    payment.currency === currency &&
    payment.description.toLowerCase() === description.toLowerCase() &&
    !isOver(payment, now);
  for (const status of ['open', 'creating'] as const) {
    const links = await tx.payments.find({
      where: { conversationId, status },
      direction: 'desc',
      limit: MAX_OPEN_LINKS_READ,
    });
    const found = links.find(isSame);
    if (found) return found;
  }
  return null;
}

/**
 * Loads a link and locks it until the transaction ends.
 * @throws not_found (404), also for another workspace's link
 */
export const lockPaymentLink = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<PaymentView> => viewPayment(tx, workspace, id, await tx.payments.get(id));

/**
 * Locks the conversation and then the payment, for a change that may move the funnel too.
 * @returns null when there is no such payment
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export async function lockPaymentWithConversation(tx: Tx, id: string): Promise<Payment | null> {
  const known = await tx.payments.peek(id);
  if (!known) return null;
  await tx.conversations.get(known.conversationId);
  return tx.payments.get(id);
}

async function viewPayment(
  tx: Tx,
  workspace: Workspace,
  id: string,
  payment: Payment | null,
): Promise<PaymentView> {
  const contact = payment && (await tx.contacts.peek(payment.contactId));
  if (!contact || payment.workspaceId !== workspace.id) throw notFound('payment link', id);
  return { payment, contact };
}

/** More conversations than any contact has, and more payment links than any conversation has. */
const ALL = 100_000;

/**
 * Masks a contact's details in what the team noted as the reference of their payments. Once the
 * contact is forgotten, nothing is left to mask them with.
 * @param contact as it was before
 */
export const maskReferences = ({ store }: Pick<Deps, 'store'>, contact: Contact) =>
  store.transaction(async (tx) => {
    const where = { contactId: contact.id };
    for (const { id } of await tx.conversations.find({ where, limit: ALL }))
      for (const payment of await tx.payments.find({ where: { conversationId: id }, limit: ALL }))
        if (payment.markedPaidBy !== null) await maskReference(tx, payment.id, contact);
  });

async function maskReference(tx: Tx, id: string, contact: Contact): Promise<void> {
  const payment = await tx.payments.get(id);
  if (payment === null || payment.providerReference === null) return;
  const providerReference = maskText(payment.providerReference, contact);
  if (providerReference !== payment.providerReference)
    await tx.payments.put({ ...payment, providerReference });
}

/** Saves a payment and schedules its next work. */
export async function putPayment(tx: Tx, payment: Payment): Promise<void> {
  await tx.payments.put(payment);
  await schedulePayment(tx, payment);
}

/** Schedules the payment's only job, which has the payment's id, or removes it when nothing is due. */
export async function schedulePayment(tx: Tx, payment: Payment): Promise<void> {
  const runAt = nextWorkAt(payment);
  if (runAt === null) return tx.jobs.complete(payment.id);
  await tx.jobs.enqueue({
    id: payment.id,
    queue: PAYMENT_QUEUE,
    group: workGroup(payment.workspaceId, payment.provider),
    runAt,
    rank: 0,
    data: {},
  });
}

/** What a customer sees of a payment link. */
export interface PaymentPage {
  readonly workspace: Workspace;
  readonly payment: Payment;
  /**
   * How to pay when no provider takes the money; null when the workspace gives no instructions.
   */
  readonly instructions: string | null;
}

/**
 * The provider is asked at most once in this time, however often a customer reloads the page.
 */
const CHECK_EVERY_MS = 5000;

/**
 * The page behind a payment link; null when no link has this token. The provider is asked for the
 * payment's state when the customer comes back from its page, and while a bank has to confirm: its
 * webhook alone could get lost.
 * @param isBack the customer comes back from the provider's page
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
      await scheduleCheck(tx, payment, clock.now());
    const account = await findPaymentAccount(tx, workspace.id, payment.provider);
    return { workspace, payment, instructions: account?.settings.instructions ?? null };
  });

async function scheduleCheck(tx: Tx, payment: Payment, now: Date): Promise<void> {
  if (payment.status !== 'open' || payment.providerUrl === null || payment.work !== null) return;
  if (payment.checkedAt !== null && Date.parse(payment.checkedAt) + CHECK_EVERY_MS > now.getTime())
    return;
  await putPayment(tx, { ...payment, work: newWork('check', now) });
}
