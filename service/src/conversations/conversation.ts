import type { Document } from '../store/store.ts';
import type { ChannelType } from './contact.ts';
import { timestamp } from '../platform/clock.ts';
import { errorWithFix } from '../platform/http/errorCatalogue.ts';
import type { Position } from '../platform/http/searchPage.ts';
import type { Actor } from '../platform/actor.ts';

/**
 * A conversation and the pure rules about who controls it. Each rule takes the conversation as it
 * is and returns the changed one.
 */

export const CONVERSATION_STATUSES = [
  'ai_active',
  'awaiting_human',
  'human_active',
  'closed',
] as const;
export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];

export const VERDICTS = [
  'goal_reached',
  'goal_not_reached',
  'no_response',
  'not_relevant',
  'unknown',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The summary is written when a conversation is closed. */
export const MAX_SUMMARY_CHARACTERS = 4000;

/** The steps of the funnel, in order, and `lost`, which is outside it. */
export const FUNNEL_STAGES = [
  'new',
  'engaged',
  'qualified',
  'payment_pending',
  'customer',
  'lost',
] as const;
export type FunnelStage = (typeof FUNNEL_STAGES)[number];

const STEPS: readonly FunnelStage[] = FUNNEL_STAGES.filter((stage) => stage !== 'lost');

const PERSON_HANDOVER_REASONS = ['team_takeover', 'api_takeover', 'api_message'] as const;
export const AGENT_HANDOVER_REASONS = [
  'customer_request',
  'missing_knowledge',
  'tool_failure',
  'agent_error',
] as const;
export const HANDOVER_REASONS = [...PERSON_HANDOVER_REASONS, ...AGENT_HANDOVER_REASONS] as const;
export type AgentHandoverReason = (typeof AGENT_HANDOVER_REASONS)[number];
export type HandoverReason = (typeof HANDOVER_REASONS)[number];

export interface Handover {
  readonly reason: HandoverReason;
  readonly note: string | null;
  readonly triggeredBy: Actor;
  readonly at: string;
}

/** A member of the team who is asked to look after a conversation. */
export interface Assignee {
  readonly id: string;
  readonly name: string;
}

export interface Outcome {
  readonly verdict: Verdict;
  readonly summary: string;
  readonly closedBy: Actor;
  readonly closedAt: string;
}

export interface Conversation extends Document {
  readonly workspaceId: string;
  readonly contactId: string;
  readonly channel: ChannelType;
  readonly status: ConversationStatus;
  readonly funnelStage: FunnelStage;
  readonly messageCount: number;
  readonly customerMessageCount: number;
  /**
   * Raised by takeover, handback, close and each message of the customer that the agent has to look
   * at. Work that the agent began at a lower number is stale.
   */
  readonly controlEpoch: number;
  readonly pendingApprovals: number;
  /** The open wait that takes the customer's next messages as its answer. */
  readonly replyWaitId?: string | null;
  readonly handover: Handover | null;
  /** The team member in control; null when no member is. */
  readonly takenBy?: string | null;
  /** The member who looks after the conversation; null or missing when nobody does. */
  readonly assigneeId?: string | null;
  /** The same member, with the name they had when the conversation was assigned to them. */
  readonly assignee?: Assignee | null;
  /** When the customer began to wait for the team; null when they are not waiting. */
  readonly waitingSince?: string | null;
  readonly outcome: Outcome | null;
  /** When the customer got the first answer. Missing in conversations of earlier versions. */
  readonly answeredAt?: string | null;
  /**
   * Whether control ever left the agent. A take-over while the agent was off does not count.
   * Missing in conversations of earlier versions.
   */
  readonly wasHandedOver?: boolean;
  readonly qualifiedAt: string | null;
  readonly previousConversationId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
}

export function openConversation(
  start: Pick<
    Conversation,
    'id' | 'workspaceId' | 'contactId' | 'channel' | 'previousConversationId'
  >,
  now: Date,
): Conversation {
  return {
    ...start,
    status: 'ai_active',
    funnelStage: 'new',
    messageCount: 0,
    customerMessageCount: 0,
    controlEpoch: 0,
    pendingApprovals: 0,
    handover: null,
    takenBy: null,
    assigneeId: null,
    assignee: null,
    waitingSince: null,
    outcome: null,
    answeredAt: null,
    wasHandedOver: false,
    qualifiedAt: null,
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
    closedAt: null,
  };
}

/** @throws conversation_closed (409) */
export function assertOpen(conversation: Conversation): void {
  if (conversation.status !== 'closed') return;
  throw errorWithFix(
    'conversation_closed',
    `Conversation ${conversation.id} was closed at ${conversation.closedAt}.`,
  );
}

/**
 * A person takes control. If a person is in control already, only another team member can take it
 * from them; an API key or the same member changes nothing. A member who takes over becomes the
 * assignee, unless the assignee is somebody other than the person in control until now. A customer
 * who is waiting for the team goes on waiting until they are answered.
 */
export function takeOver(
  conversation: Conversation,
  by: { reason: HandoverReason; note: string | null; actor: Actor },
  now: Date,
): Conversation {
  assertOpen(conversation);
  const takenBy = by.actor.memberId ?? null;
  const isTaken = conversation.status === 'human_active';
  if (isTaken && (takenBy === null || takenBy === conversation.takenBy)) return conversation;
  const taken = {
    ...conversation,
    ...assigneeAfter(conversation, by.actor),
    takenBy,
    updatedAt: timestamp(now),
  };
  if (isTaken) return taken;
  return {
    ...taken,
    status: 'human_active',
    handover: { reason: by.reason, note: by.note, triggeredBy: by.actor, at: timestamp(now) },
    controlEpoch: conversation.controlEpoch + 1,
  };
}

function assigneeAfter(
  { assignee = null, takenBy }: Conversation,
  { memberId, name }: Actor,
): Pick<Conversation, 'assignee' | 'assigneeId'> {
  const isFree = assignee === null || assignee.id === takenBy;
  const next = memberId !== undefined && isFree ? { id: memberId, name } : assignee;
  return { assignee: next, assigneeId: next?.id ?? null };
}

/**
 * The agent gives up control: from now on the conversation waits for a person. If the customer is
 * waiting already, `waitingSince` stays.
 */
export const handOver = (
  conversation: Conversation,
  by: { reason: AgentHandoverReason; note: string | null; actor: Actor },
  now: Date,
): Conversation => ({
  ...conversation,
  status: 'awaiting_human',
  handover: { reason: by.reason, note: by.note, triggeredBy: by.actor, at: timestamp(now) },
  wasHandedOver: true,
  waitingSince: conversation.waitingSince ?? timestamp(now),
  updatedAt: timestamp(now),
});

/**
 * The member in control was removed from the team: the conversation waits for another person, and the
 * agent stays out of it. If the customer is waiting already, `waitingSince` stays.
 */
export const loseMember = (conversation: Conversation, now: Date): Conversation => ({
  ...conversation,
  status: 'awaiting_human',
  takenBy: null,
  waitingSince: conversation.waitingSince ?? timestamp(now),
  updatedAt: timestamp(now),
});

/** Whether the customer is waiting for the team. */
export const isCustomerWaiting = ({ waitingSince = null }: Conversation): boolean =>
  waitingSince !== null;

/** The customer wrote, and only the team can answer. */
export const waitForTeam = (conversation: Conversation, now: Date): Conversation =>
  isCustomerWaiting(conversation)
    ? conversation
    : { ...conversation, waitingSince: timestamp(now) };

/** The customer got an answer. */
export const answered = (conversation: Conversation, now: Date): Conversation =>
  noteFirstAnswer(endWaitForTeam(conversation), now);

/** The customer got an answer, though not to what they wrote last. */
export const noteFirstAnswer = (conversation: Conversation, now: Date): Conversation => ({
  ...conversation,
  // Undefined in conversations of earlier versions, which did not record the first answer.
  answeredAt: conversation.answeredAt === null ? timestamp(now) : conversation.answeredAt,
});

/** A workflow asked the customer. */
export const awaitReply = (conversation: Conversation, replyWaitId: string): Conversation => ({
  ...endWaitForTeam(conversation),
  replyWaitId,
});

/** After a handover by the agent, no message ends the wait until a person has taken over. */
const endWaitForTeam = (conversation: Conversation): Conversation =>
  conversation.status === 'awaiting_human' ? conversation : { ...conversation, waitingSince: null };

/**
 * Control returns to the agent. Returns the same object when the agent is in control already. Does
 * not change `waitingSince`: that depends on whether the agent is on, and is up to `onHandedBack`.
 */
export function handBack(conversation: Conversation, now: Date): Conversation {
  assertOpen(conversation);
  if (conversation.status === 'ai_active') return conversation;
  return {
    ...conversation,
    status: 'ai_active',
    handover: null,
    takenBy: null,
    controlEpoch: conversation.controlEpoch + 1,
    updatedAt: timestamp(now),
  };
}

export function close(
  conversation: Conversation,
  closing: { verdict: Verdict; summary: string; actor: Actor },
  now: Date,
): Conversation & { readonly outcome: Outcome } {
  assertOpen(conversation);
  const closedAt = timestamp(now);
  return {
    ...conversation,
    status: 'closed',
    waitingSince: null,
    outcome: {
      verdict: closing.verdict,
      summary: closing.summary,
      closedBy: closing.actor,
      closedAt,
    },
    controlEpoch: conversation.controlEpoch + 1,
    updatedAt: closedAt,
    closedAt,
  };
}

/**
 * Counts a message. A message of the customer raises the control epoch, unless it answers a wait:
 * the agent does not look at it then. The customer's second message moves the funnel to `engaged`.
 */
export function countMessage(
  conversation: Conversation,
  direction: 'inbound' | 'outbound',
  now: Date,
): Conversation {
  const inbound = direction === 'inbound';
  const customerMessageCount = conversation.customerMessageCount + (inbound ? 1 : 0);
  const engaged =
    inbound && customerMessageCount >= 2 && isForward(conversation.funnelStage, 'engaged');
  return {
    ...conversation,
    messageCount: conversation.messageCount + 1,
    customerMessageCount,
    funnelStage: engaged ? 'engaged' : conversation.funnelStage,
    controlEpoch: conversation.controlEpoch + (inbound && !conversation.replyWaitId ? 1 : 0),
    updatedAt: timestamp(now),
  };
}

/**
 * Sets the funnel stage.
 * @returns `qualifiedNow`: whether the conversation has reached `qualified` or a later stage for
 * the first time
 */
export function moveStage(
  conversation: Conversation,
  stage: FunnelStage,
  now: Date,
): { conversation: Conversation; qualifiedNow: boolean } {
  if (stage === conversation.funnelStage) return { conversation, qualifiedNow: false };
  const qualifiedNow = conversation.qualifiedAt === null && isQualifiedOrBeyond(stage);
  return {
    conversation: {
      ...conversation,
      funnelStage: stage,
      qualifiedAt: qualifiedNow ? timestamp(now) : conversation.qualifiedAt,
      updatedAt: timestamp(now),
    },
    qualifiedNow,
  };
}

/** True at `qualified` and every later stage; false at `lost`. */
export const isQualifiedOrBeyond = (stage: FunnelStage): boolean =>
  STEPS.indexOf(stage) >= STEPS.indexOf('qualified');

/**
 * Whether the service may make this move by itself. Such moves never go back, and never leave
 * `lost`.
 */
export const isForward = (from: FunnelStage, to: FunnelStage): boolean =>
  from !== 'lost' && STEPS.indexOf(to) > STEPS.indexOf(from);

/** Where a conversation is in a list that is ordered by its last change. */
export const positionOf = ({ updatedAt, id }: Conversation): Position => ({
  value: updatedAt,
  id,
});
