import type { Deps } from '../deps.ts';
import { pageOf, type Page, type PageRequest } from '../page.ts';
import type { Payment } from '../payment.ts';
import type { Workspace } from '../workspace.ts';
import { withContacts } from './loadConversation.ts';
import type { PaymentView } from './loadPayment.ts';

export type PaymentFilter = Partial<Pick<Payment, 'conversationId' | 'status'>>;

/** The workspace's payment links, newest first. */
export const listPaymentLinks = (
  { store }: Deps,
  workspace: Workspace,
  filter: PaymentFilter,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<PaymentView>> => {
    const found = await pageOf(page, (query) =>
      tx.payments.find({
        where: { workspaceId: workspace.id, ...filter },
        direction: 'desc',
        ...query,
      }),
    );
    const items = (await withContacts(tx, found.items)).map(([payment, contact]) => ({
      payment,
      contact,
    }));
    return { ...found, items };
  });
