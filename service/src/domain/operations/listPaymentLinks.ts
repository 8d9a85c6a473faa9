import type { Deps } from '../deps.ts';
import { pageOf, type Page, type PageRequest } from '../page.ts';
import type { Payment } from '../payment.ts';
import type { Workspace } from '../workspace.ts';
import { getContact } from './loadConversation.ts';
import type { PaymentView } from './loadPayment.ts';

export type PaymentFilter = Partial<Pick<Payment, 'conversationId' | 'status'>>;

/** The workspace's payment links, newest first. */
export const listPaymentLinks = ({ store }: Deps, workspace: Workspace, filter: PaymentFilter, page: PageRequest) =>
  store.transaction(async (tx): Promise<Page<PaymentView>> => {
    const found = await pageOf(page, (query) => tx.payments.find({ where: { workspaceId: workspace.id, ...filter }, direction: 'desc', ...query }));
    const items = [];
    for (const payment of found.items) items.push({ payment, contact: await getContact(tx, payment.contactId) });
    return { ...found, items };
  });
