import type { PaymentAccount } from '../../domain/payment.ts';
import { connectionBadge } from '../channels/channelState.ts';
import { html, type View } from '../html.ts';

/** Whether a provider is set up and, where it has keys, whether they work. */
export function accountBadge(account: PaymentAccount | null, isRemote: boolean): View {
  if (account === null) return html`<span class="badge">not set up</span>`;
  return isRemote ? connectionBadge(account) : html`<span class="badge good">set up</span>`;
}
