import {
  CHANNEL_TYPES,
  type ChannelType,
  CONVERSATION_STATUSES,
  type Conversation,
  type ConversationStatus,
  FUNNEL_STAGES,
  type FunnelStage,
} from '../conversations/index.ts';

/**
 * Which conversations of a tab are shown. A field that is null filters nothing. The fields have the
 * names of the parameters in the page's address.
 */
export interface InboxFilter {
  readonly channel: ChannelType | null;
  readonly stage: FunnelStage | null;
  readonly status: ConversationStatus | null;
  /** The id of the member who looks after the conversation. */
  readonly assignee: string | null;
}

export const NO_FILTER: InboxFilter = { channel: null, stage: null, status: null, assignee: null };

export const isFiltered = (filter: InboxFilter): boolean =>
  Object.values(filter).some((value) => value !== null);

type FilterFields = Partial<
  Pick<Conversation, 'channel' | 'funnelStage' | 'status' | 'assigneeId'>
>;

/** The fields that a conversation must have to pass the filter. */
export const fieldsOfFilter = ({
  channel,
  stage,
  status,
  assignee,
}: InboxFilter): FilterFields => ({
  ...(channel && { channel }),
  ...(stage && { funnelStage: stage }),
  ...(status && { status }),
  ...(assignee && { assigneeId: assignee }),
});

const MEMBER_ID = /^mbr_[0-9A-Z]{26}$/;

/** Reads a filter from a query. Ignores invalid values. */
export const readFilter = (query: Readonly<Record<string, unknown>>): InboxFilter => ({
  channel: oneOf(CHANNEL_TYPES, query.channel),
  stage: oneOf(FUNNEL_STAGES, query.stage),
  status: oneOf(CONVERSATION_STATUSES, query.status),
  assignee: memberIdOf(query.assignee),
});

const memberIdOf = (value: unknown) =>
  typeof value === 'string' && MEMBER_ID.test(value) ? value : null;

const oneOf = <Value extends string>(values: readonly Value[], value: unknown): Value | null =>
  values.find((each) => each === value) ?? null;
