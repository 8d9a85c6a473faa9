import { timestamp } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { AgentHandoverReason, Conversation, Verdict } from '../../conversations/index.ts';
import type { Tx } from '../../store/collections.ts';
import type { Document } from '../../store/store.ts';

/**
 * `queued`: waits for its next attempt. `running`: the workflow has it. `suspended`: the workflow
 * waits for a customer or a colleague. The others have ended.
 */
export const TURN_STATUSES = [
  'queued',
  'running',
  'suspended',
  'answered',
  'superseded',
  'failed',
] as const;
type TurnStatus = (typeof TURN_STATUSES)[number];

/** How the workflow answered: the last thing that it did. */
export const TURN_OUTCOMES = ['reply', 'hand_over', 'close', 'nothing'] as const;
export type TurnOutcome = (typeof TURN_OUTCOMES)[number];

/** A turn of the agent that a workflow answers. */
export interface WebhookTurn extends Document {
  readonly workspaceId: string;
  /** Null for a test, which is about a made-up message. */
  readonly conversationId: string | null;
  /** The number of the agent's turn in the conversation. */
  readonly number: number;
  /** The conversation's control epoch when the turn began. An answer fits no other epoch. */
  readonly controlEpoch: number;
  /** The numbers of the first and the last message that wait for an answer. */
  readonly firstMessage: number;
  readonly lastMessage: number;
  readonly status: TurnStatus;
  /** Null until the workflow has answered. */
  readonly outcome: TurnOutcome | null;
  /** Why it failed, was superseded or is tried again, in words for the team. */
  readonly problem: string | null;
  readonly attempts: number;
  /** An attempt was sent and its HTTP answer has not been recorded. */
  readonly isUnderWay: boolean;
  /** How many messages of the workflow were sent. */
  readonly replies: number;
  /** When it was due for the first time; null before. */
  readonly startedAt: string | null;
  /** When it fails without an answer; null while it is queued or suspended, and once it has ended. */
  readonly deadline: string | null;
  readonly endedAt: string | null;
  /** It has waited for a customer or a colleague: newer messages have turns of their own. */
  readonly isResumed: boolean;
  /** Its wait has ended, and its execution has not come back yet. Absent: false. */
  readonly isComingBack?: boolean;
  /** How many waits of its workflow are open; absent: none. */
  readonly openWaits?: number;
  /** A test by the team: its answer is shown and not sent. */
  readonly isTest: boolean;
  /** Of a test: the made-up message, and the answer once there is one. */
  readonly tried?: { readonly text: string; readonly answer: TurnAnswer | null };
  readonly createdAt: string;
}

/** What a workflow wants: messages to the customer, and what happens after them. */
export interface TurnAnswer {
  readonly texts: readonly string[];
  readonly then:
    | { readonly type: 'end' }
    /** More messages follow: the turn goes on. */
    | { readonly type: 'go_on' }
    | {
        readonly type: 'hand_over';
        readonly reason: AgentHandoverReason;
        readonly note: string | null;
      }
    | { readonly type: 'close'; readonly verdict: Verdict; readonly summary: string };
}

export const WEBHOOK_TURN_QUEUE = 'webhook_turns';

/** More messages at once are a mistake of the workflow. */
export const MAX_ANSWER_TEXTS = 10;
/** The note for the team when a workflow hands over. */
export const MAX_HANDOVER_NOTE_CHARACTERS = 1000;

/**
 * How long sending a turn is retried, since n8n may be restarting, or publishing a new version of the
 * workflow.
 */
export const TURN_PATIENCE_MS = 60_000;
/**
 * How long an execution whose wait has ended may take to come back, on top of the turn's own time:
 * n8n may be down.
 */
export const COMING_BACK_MS = 15 * 60_000;

/**
 * How long to wait before the next attempt, in milliseconds.
 * @param elapsedMs since the turn was due for the first time
 */
export function retryDelayMs(elapsedMs: number): number {
  if (elapsedMs < 1000) return 1000;
  if (elapsedMs < 3000) return 2000;
  return elapsedMs < 8000 ? 5000 : 10_000;
}

const UNSENT = {
  status: 'queued',
  outcome: null,
  problem: null,
  attempts: 0,
  isUnderWay: false,
  replies: 0,
  startedAt: null,
  deadline: null,
  endedAt: null,
  isResumed: false,
} as const satisfies Partial<WebhookTurn>;

/** Makes a turn that is due at once. */
export const newWebhookTurn = (
  about: Omit<WebhookTurn, keyof typeof UNSENT | 'id' | 'createdAt'>,
  now: Date,
): WebhookTurn => ({ ...about, ...UNSENT, id: newId('turn'), createdAt: timestamp(now) });

export const isOpen = ({ status }: Pick<WebhookTurn, 'status'>): boolean =>
  status === 'queued' || status === 'running' || status === 'suspended';

/** Whether a turn rests (is suspended) or has rested: newer messages have turns of their own. */
export const hasRested = ({
  isResumed,
  status,
}: Pick<WebhookTurn, 'isResumed' | 'status'>): boolean => isResumed || status === 'suspended';

/**
 * Why an open turn no longer fits its conversation, so that nothing of it may be sent, in words. A
 * turn that rested only needs the agent in control, since newer messages have turns of their own.
 * @param conversation null when it was removed
 * @returns null while it fits
 */
export function misfitOf(
  { controlEpoch, isResumed, status }: WebhookTurn,
  conversation: Conversation | null,
  isAgentOn: boolean,
): string | null {
  switch (conversation?.status) {
    case undefined:
      return 'The conversation was removed.';
    case 'closed':
      return 'The conversation was closed.';
    case 'human_active':
      return 'A person took over the conversation.';
    case 'awaiting_human':
      return 'The conversation waits for a person.';
    case 'ai_active': {
      if (!isAgentOn) return 'The agent was switched off.';
      return hasRested({ status, isResumed }) || conversation.controlEpoch === controlEpoch
        ? null
        : 'The customer wrote again, or control changed, after the turn began.';
    }
  }
}

/** Why a turn takes no answer, whatever the state of its conversation; null when it takes one. */
export function answerRefusalOf({
  status,
  endedAt,
  problem,
  attempts,
}: WebhookTurn): string | null {
  switch (status) {
    case 'queued':
      return attempts === 0 ? 'The turn has not begun.' : null;
    case 'running':
      return null;
    case 'suspended':
      return 'The turn rests until its wait has ended.';
    case 'answered':
      return `The turn was answered at ${endedAt}.`;
    case 'superseded':
      return problem ?? 'A newer turn has begun.';
    case 'failed':
      return `The turn failed at ${endedAt}: ${problem}`;
  }
}

/** Ends a turn. */
export const endTurn = (
  turn: WebhookTurn,
  end: Pick<WebhookTurn, 'status'> & Partial<Pick<WebhookTurn, 'outcome' | 'problem'>>,
  now: Date,
): WebhookTurn => ({
  ...turn,
  problem: null,
  ...end,
  isUnderWay: false,
  deadline: null,
  endedAt: timestamp(now),
});

/**
 * Puts a turn's next step into the work queue: an attempt, its deadline or, once it has ended or
 * rests, letting go of its call. The job has the turn's id.
 */
export const enqueueTurn = (
  tx: Tx,
  { id, workspaceId, conversationId }: WebhookTurn,
  runAt: number,
): Promise<void> =>
  tx.jobs.enqueue({
    id,
    queue: WEBHOOK_TURN_QUEUE,
    group: workGroup(workspaceId, conversationId ?? id),
    runAt,
    rank: 0,
    data: {},
  });
