/** The funnel, in order; `lost` stands off the ladder. */
export const FUNNEL_STAGES = [
  'new',
  'engaged',
  'qualified',
  'payment_pending',
  'customer',
  'lost',
] as const;
export type FunnelStage = (typeof FUNNEL_STAGES)[number];

const LADDER: readonly FunnelStage[] = [
  'new',
  'engaged',
  'qualified',
  'payment_pending',
  'customer',
];

/** True at `qualified` and every later stage; `lost` is none of them. */
export const isQualifiedOrBeyond = (stage: FunnelStage): boolean =>
  LADDER.indexOf(stage) >= LADDER.indexOf('qualified');

/**
 * True when an automatic move to `to` goes up the ladder; automatic moves never go back, nor out of
 * `lost`.
 */
export const isForward = (from: FunnelStage, to: FunnelStage): boolean =>
  from !== 'lost' && LADDER.indexOf(to) > LADDER.indexOf(from);
