import type { PaymentAccount } from '../domain/payment.ts';
import type { SecretBox } from '../security/secretBox.ts';
import type { OpenPaymentAccount } from './paymentAdapter.ts';

/** @throws Error for secrets that were sealed with another key */
export function openPaymentAccount(secrets: SecretBox, account: PaymentAccount): OpenPaymentAccount {
  const opened = Object.entries(account.sealedSecrets).map(([name, sealed]) => [name, secrets.open(sealed)] as const);
  return { account, values: { ...account.settings, ...Object.fromEntries(opened) } };
}
