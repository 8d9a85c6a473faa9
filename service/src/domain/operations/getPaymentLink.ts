import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { peekPayment } from './loadPayment.ts';

/** @throws not_found (404) */
export const getPaymentLink = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction((tx) => peekPayment(tx, workspace, id));
