import type { Actor } from '../platform/actor.ts';
import { timestamp } from '../platform/clock.ts';
import type { Decision } from '../platform/decision.ts';
import type { JsonObject } from '../platform/json.ts';
import type { Document } from '../store/store.ts';
import type { Accept, AnswerValue } from './accept.ts';

/**
 * A question that rests until a customer replies or a colleague decides, and then lets a workflow's
 * execution go on. The pure rules of its life are here.
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

/** What the customer wrote, as the wait keeps it: retention may remove messages first. */
export interface WaitAnswer {
  readonly messages: readonly {
    readonly id: string;
    readonly text: string;
    readonly createdAt: string;
  }[];
  /** Null when it was not accepted. */
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
  /** Why it was given up, in words. */
  readonly problem: string | null;
}

export interface Wait extends Document {
  readonly workspaceId: string;
  readonly kind: WaitKind;
  readonly status: WaitStatus;
  /** Null for a decision that belongs to the workspace alone. */
  readonly conversationId: string | null;
  readonly contactId: string | null;
  /** The agent's turn that it suspends. */
  readonly turnId: string | null;
  /** Its place in the thread: the number of the message before it, or the question's own. */
  readonly afterMessage: number | null;
  /** The message that asks the customer. */
  readonly questionId: string | null;
  readonly message: string;
  readonly details: JsonObject | null;
  readonly approveLabel: string | null;
  readonly rejectLabel: string | null;
  readonly accept: Accept;
  /** What asks again when an answer is not accepted; null: the question. */
  readonly retryMessage: string | null;
  readonly maxAttempts: number;
  /** How many answers were not accepted. */
  readonly refusedAnswers: number;
  readonly remindAfterSeconds: number | null;
  /** What reminds the customer; null: the question. */
  readonly remindMessage: string | null;
  /** When the customer is reminded; null when that is done or not wanted. */
  readonly remindAt: string | null;
  /** The customer's messages up to this number have been judged. */
  readonly judgedThrough: number;
  /** When what the customer has written since is judged; null when they wrote nothing. */
  readonly judgeAt: string | null;
  readonly answer: WaitAnswer | null;
  readonly decision: Decision | null;
  /** Its texts were removed with its contact. It is kept until its execution has gone on. */
  readonly isCleared?: boolean;
  /** Who cancelled it; absent when nobody did, or a newer wait has its address. */
  readonly cancelledBy?: Actor;
  /** Where the execution goes on. It holds a signature, so it is a secret. */
  readonly sealedResumeUrl: string;
  /** For people: host and port of that address. */
  readonly resumeHost: string;
  /** Finds waits with the same address. */
  readonly resumeUrlHash: string;
  readonly resume: Resume;
  /** The key that made it, which gets the answer in the clear. */
  readonly apiKeyId: string;
  readonly createdBy: Actor;
  /** Whether the metrics have its end. */
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

/** What a new wait begins with, beside what was asked for. */
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

/** Whether nothing is left to do for it: it has ended, and its execution is not called any more. */
export const isOver = (wait: Wait): boolean => nextWaitWork(wait) === null;

/** When its next work is due, in milliseconds since the epoch; null: never. */
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
  /** A newer wait has its address: the execution is past this one. */
  readonly isReplaced?: boolean;
}

/** The wait as it ends. Its execution goes on, unless a newer wait has replaced it. */
export const end = (wait: Wait, { isReplaced = false, ...found }: WaitEnd, now: Date): Wait => ({
  ...wait,
  ...found,
  judgeAt: null,
  remindAt: null,
  endedAt: timestamp(now),
  resume: isReplaced
    ? NOTHING_TO_RESUME
    : { ...NOTHING_TO_RESUME, state: 'pending', nextAt: timestamp(now) },
});

/**
 * The wait of a contact that was forgotten, without its texts. Its execution goes on as with one that
 * was cancelled.
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
