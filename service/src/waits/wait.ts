import type { Actor } from '../platform/actor.ts';
import { timestamp } from '../platform/clock.ts';
import type { Decision } from '../platform/decision.ts';
import type { JsonObject } from '../platform/json.ts';
import type { Document } from '../store/store.ts';
import type { Accept, AnswerValue } from './accept.ts';

/**
 * A question that stays open until a customer replies or a colleague decides; then a workflow's
 * execution goes on. Here are its record and the pure rules for how it ends.
 * @see docs/waits.md
 */

export const WAIT_KINDS = ['reply', 'decision'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

export const WAIT_STATUSES = [
  'open',
  'answered',
  'approved',
  'rejected',
  'expired',
  'cancelled',
  'taken_over',
  'closed',
  'undeliverable',
  'not_accepted',
] as const;
export type WaitStatus = (typeof WAIT_STATUSES)[number];

export const RESUME_STATES = ['none', 'pending', 'done', 'gave_up'] as const;
type ResumeState = (typeof RESUME_STATES)[number];

/** A copy of what the customer wrote, since retention may remove the messages before the wait. */
export interface WaitAnswer {
  readonly messages: readonly {
    readonly id: string;
    readonly text: string;
    readonly createdAt: string;
  }[];
  /** Null when the answer was not accepted. */
  readonly value: AnswerValue | null;
  readonly secondsWaited: number;
}

/** One call of the resume address. */
export interface ResumeAttempt {
  readonly at: string;
  /** The HTTP status; null when no answer came. */
  readonly status: number | null;
  /** Why the execution did not go on, in words; null when it collected the wait. */
  readonly problem: string | null;
}

interface Resume {
  readonly state: ResumeState;
  readonly attempts: readonly ResumeAttempt[];
  /** When the next attempt is due; null when there is none. */
  readonly nextAt: string | null;
  /** Why the service gave up, in words. */
  readonly problem: string | null;
}

export interface Wait extends Document {
  readonly workspaceId: string;
  readonly kind: WaitKind;
  readonly status: WaitStatus;
  /** Null for a decision that belongs to the workspace alone. */
  readonly conversationId: string | null;
  readonly contactId: string | null;
  /** The agent's turn that the wait suspends. */
  readonly turnId: string | null;
  /** The number of the message before the wait; for a question to a customer, its own number. */
  readonly afterMessage: number | null;
  /** The message that asks the customer. */
  readonly questionId: string | null;
  readonly message: string;
  readonly details: JsonObject | null;
  readonly approveLabel: string | null;
  readonly rejectLabel: string | null;
  readonly accept: Accept;
  /** The text that asks again when an answer is not accepted; null: `message`. */
  readonly retryMessage: string | null;
  /** How many answers the customer may give. */
  readonly maxAttempts: number;
  /** How many answers were not accepted. */
  readonly refusedAnswers: number;
  readonly remindAfterSeconds: number | null;
  /** The text that reminds the customer; null: `message`. */
  readonly remindMessage: string | null;
  /** When the customer is reminded; null when that is done or not wanted. */
  readonly remindAt: string | null;
  /** The customer's messages up to this number have been judged. */
  readonly judgedThrough: number;
  /** When the customer's later messages are judged; null when there are none. */
  readonly judgeAt: string | null;
  readonly answer: WaitAnswer | null;
  readonly decision: Decision | null;
  /** The texts were removed with the contact. The wait stays until its execution has gone on. */
  readonly isCleared?: boolean;
  /** Who cancelled the wait; absent when nobody did, or when a newer wait replaced it. */
  readonly cancelledBy?: Actor;
  /** The address at which the execution goes on. It holds a signature, so it is a secret. */
  readonly sealedResumeUrl: string;
  /** For people: host and port of that address. */
  readonly resumeHost: string;
  /** Finds waits with the same address. */
  readonly resumeUrlHash: string;
  readonly resume: Resume;
  /** The API key that opened the wait, which gets the answer in the clear. */
  readonly apiKeyId: string;
  readonly createdBy: Actor;
  /** Whether the end of the wait was counted for the metrics. */
  readonly isCounted: boolean;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly collectedAt: string | null;
}

export const WAIT_QUEUE = 'waits';

export const MAX_OPEN_WAITS = 1000;
export const MAX_QUESTION_CHARACTERS = 4096;
export const MAX_DETAILS_CHARACTERS = 16_384;
/** Objects and lists inside each other; `{}` is one deep. */
export const MAX_DETAILS_DEPTH = 8;
export const MAX_LABEL_CHARACTERS = 40;
export const MAX_WAIT_NOTE_CHARACTERS = 1000;
export const DEFAULT_ATTEMPTS = 3;
export const MAX_ATTEMPTS = 10;
export const DEFAULT_WAIT_SECONDS = 7 * 24 * 3600;
export const MAX_WAIT_SECONDS = 365 * 24 * 3600;
export const MIN_REMIND_SECONDS = 10;

const NOTHING_TO_RESUME = {
  state: 'none',
  attempts: [],
  nextAt: null,
  problem: null,
} as const;

/** The state in which every wait begins. */
export const NEW_WAIT = {
  status: 'open',
  questionId: null,
  refusedAnswers: 0,
  judgeAt: null,
  answer: null,
  decision: null,
  resume: NOTHING_TO_RESUME,
  isCounted: false,
  endedAt: null,
  collectedAt: null,
} as const satisfies Partial<Wait>;

export const isOpen = ({ status }: Pick<Wait, 'status'>): boolean => status === 'open';

/** Whether nothing is left to do: the wait has ended, and its execution is not called again. */
export const isOver = (wait: Wait): boolean => nextWaitWork(wait) === null;

/** When the wait's next work is due, in milliseconds since the epoch; null: never. */
export function nextWaitWork(wait: Wait): number | null {
  const { expiresAt, remindAt, judgeAt, resume, isCounted, endedAt } = wait;
  const times = isOpen(wait)
    ? [expiresAt, judgeAt, judgeAt === null ? remindAt : null]
    : [resume.nextAt, isCounted ? null : endedAt];
  const due = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  return due.length === 0 ? null : Math.min(...due);
}

/** How a wait ends. */
export interface WaitEnd extends Partial<Pick<Wait, 'answer' | 'decision' | 'cancelledBy'>> {
  readonly status: Exclude<WaitStatus, 'open'>;
  /** A newer wait has the same address: the execution no longer waits for this one. */
  readonly isReplaced?: boolean;
}

/** The wait as it ends. Its execution goes on, unless a newer wait has replaced it. */
export const end = (wait: Wait, { isReplaced = false, ...outcome }: WaitEnd, now: Date): Wait => ({
  ...wait,
  ...outcome,
  judgeAt: null,
  remindAt: null,
  endedAt: timestamp(now),
  resume: isReplaced
    ? NOTHING_TO_RESUME
    : { ...NOTHING_TO_RESUME, state: 'pending', nextAt: timestamp(now) },
});

/**
 * The wait of a contact that was forgotten, without its texts. Its execution goes on as if the wait
 * had been cancelled.
 */
export const clearWait = (wait: Wait, now: Date): Wait => ({
  ...(isOpen(wait) ? end(wait, { status: 'cancelled' }, now) : wait),
  status: 'cancelled',
  isCleared: true,
  turnId: null,
  questionId: null,
  message: '',
  details: null,
  approveLabel: null,
  rejectLabel: null,
  accept: { ...wait.accept, choices: [] },
  retryMessage: null,
  remindMessage: null,
  answer: null,
  decision: null,
});

/** An answer was not accepted, and the question is asked again. */
export const askAgain = (wait: Wait, judgedThrough: number, now: Date): Wait => ({
  ...wait,
  refusedAnswers: wait.refusedAnswers + 1,
  judgedThrough,
  judgeAt: null,
  remindAt:
    wait.remindAt === null || wait.remindAfterSeconds === null
      ? null
      : secondsAfter(now, wait.remindAfterSeconds),
});

/** Seconds between two times, as stored; a clock that was set back gives 0. */
export const secondsBetween = (from: string, to: string): number =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));

export const secondsAfter = (from: Date, seconds: number): string =>
  timestamp(new Date(from.getTime() + seconds * 1000));
