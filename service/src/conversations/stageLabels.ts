import type { FunnelStage } from './conversation.ts';

/** The stages of the funnel in a reader's words. */
export const STAGE_LABELS: Readonly<Record<FunnelStage, string>> = {
  new: 'New',
  engaged: 'Engaged',
  qualified: 'Qualified',
  payment_pending: 'Payment pending',
  customer: 'Customer',
  lost: 'Lost',
};
