import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment.ts';

/** Which links the page shows. */
export interface PaymentsView {
  readonly status?: PaymentStatus | undefined;
  /** The last link of the page before. */
  readonly cursor?: string | undefined;
}

/** Out of an address or a form; what makes no sense is left out. */
export function paymentsViewOf(values: Readonly<Record<string, unknown>>): PaymentsView {
  const { status, cursor } = values;
  return {
    status: PAYMENT_STATUSES.find((each) => each === status),
    cursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
  };
}

/** `/payments?status=open`. */
export function paymentsHref(
  { status, cursor }: PaymentsView,
  more: Readonly<Record<string, string>> = {},
  path = '/payments',
): string {
  const query = new URLSearchParams({
    ...(status === undefined ? {} : { status }),
    ...(cursor === undefined ? {} : { cursor }),
    ...more,
  }).toString();
  return query === '' ? path : `${path}?${query}`;
}
