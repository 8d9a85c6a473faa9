import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { loadPayment } from './loadPayment.ts';

/** @throws not_found (404) */
export const getPaymentLink = ({ store }: Deps, workspace: Workspace, id: string) => store.transaction((tx) => loadPayment(tx, workspace, id));
