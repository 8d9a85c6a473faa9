/**
 * The values that a filter can name. `conversations/` describes its events with them: a value that is
 * missing here does not compile there.
 * @see docs/decisions/0042-what-filters-look-at.md
 */
export const FILTER_WORDS = {
  channels: ['web_chat', 'whatsapp_cloud'],
  statuses: ['ai_active', 'awaiting_human', 'human_active', 'closed'],
  funnelStages: ['new', 'engaged', 'qualified', 'payment_pending', 'customer', 'lost'],
  senders: ['customer', 'agent', 'team_member', 'api'],
  receivedAs: ['message', 'answer'],
} as const;
type Words = typeof FILTER_WORDS;

export const MAX_FILTER_CONVERSATIONS = 100;

/** Narrows the events that a subscription names. A list that is left out lets everything pass. */
export type Filter = { readonly [Field in keyof Words]?: readonly Words[Field][number][] } & {
  readonly conversationIds?: readonly string[];
};

/** What filters compare, besides the conversation. An event has only the facts in its payload. */
export interface EventFacts {
  readonly channel?: Words['channels'][number];
  readonly status?: Words['statuses'][number];
  readonly funnelStage?: Words['funnelStages'][number];
  /** Only of a message. */
  readonly sender?: Words['senders'][number];
  /** Only of a customer's message: whether it answers a waiting workflow. */
  readonly receivedAs?: Words['receivedAs'][number];
}

const FACT_OF = {
  channels: 'channel',
  statuses: 'status',
  funnelStages: 'funnelStage',
  senders: 'sender',
  receivedAs: 'receivedAs',
  conversationIds: 'conversationId',
} as const satisfies Record<keyof Filter, keyof EventFacts | 'conversationId'>;
const FIELDS = Object.keys(FACT_OF) as (keyof Filter)[];

/** Whether an event passes all lists. A list applies only to events that have its fact. */
export function passes(
  filter: Filter,
  { facts, conversationId }: { facts?: EventFacts; conversationId: string | null },
): boolean {
  const all = { ...facts, conversationId: conversationId ?? undefined };
  return FIELDS.every((field) => {
    const wanted: readonly string[] | undefined = filter[field];
    const fact = all[FACT_OF[field]];
    return wanted === undefined || fact === undefined || wanted.includes(fact);
  });
}

/** The filter without its empty lists; null when no list is left. */
export function tidyFilter(filter: Filter): Filter | null {
  const lists = Object.entries(filter).filter(([, list]) => (list?.length ?? 0) > 0);
  return lists.length === 0 ? null : (Object.fromEntries(lists) as Filter);
}
