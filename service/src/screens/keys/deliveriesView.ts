import type { DeliveryStatus } from '../../domain/delivery.ts';

/** Which of a subscription's deliveries a page shows. */
export interface DeliveriesView {
  readonly status?: DeliveryStatus | undefined;
  /** The last delivery of the page before. */
  readonly cursor?: string | undefined;
  /** The delivery that stands open. */
  readonly open?: string | undefined;
}

/** The view as a query, with what else is to stand there: `?status=failed`, or nothing. */
export function queryOf(view: DeliveriesView, more: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries({ ...view, ...more }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** The address of a subscription's page. */
export const addressOf = (
  subscriptionId: string,
  view: DeliveriesView,
  more?: Readonly<Record<string, string>>,
): string => `/keys/subscriptions/${subscriptionId}${queryOf(view, more)}`;
