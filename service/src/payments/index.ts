/** What other subjects may use of payments/; nothing else. */

export { paymentPayload } from './payload.ts';
export {
  type PaymentLinkRequest,
  MAX_PAYMENT_DESCRIPTION_CHARACTERS,
  type Payment,
  PAYMENT_PROVIDERS,
  paymentPageUrl,
  type PaymentPageUrl,
  type PaymentProvider,
} from './payment.ts';
export type { FollowPayment } from './followPayments.ts';
export { PAYMENT_ADAPTERS, paymentAdapterOf } from './registry.ts';
export {
  createPaymentLink,
  putPaymentLink,
  type WantedPayment,
} from './operations/createPaymentLink.ts';
export { lockOpenPaymentLink } from './operations/endPaymentLink.ts';
export { findPaymentAccount, listPaymentAccounts } from './operations/paymentAccounts.ts';
export { findOpenPaymentLink, getPaymentLink, maskReferences } from './operations/paymentLinks.ts';
