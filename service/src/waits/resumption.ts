import { timestamp } from '../platform/clock.ts';
import { secondsAfter, type ResumeAttempt, type Wait } from './wait.ts';

/** When an execution is called to go on, and when that is done: the pure rules. */

/** How long each next attempt to resume waits, in seconds; the last one stays. */
const RESUME_DELAYS = [1, 1, 3, 10, 15, 30, 60, 180, 300, 300, 900, 1800];
/** Counted from the first attempt, so that an outage of the service itself does not use it up. */
const RESUME_FOR_MS = 24 * 3600 * 1000;
/** Longer than an attempt: one that collected the wait has been recorded by then, or never will be. */
const CONFIRM_AFTER_SECONDS = 15;

const IS_GONE = 'The execution is gone.';
const SUPERSEDED = 'A newer wait has the same address: the execution is past this one.';

/**
 * The execution has its answer. Collecting again changes nothing. It is called once more unless the
 * call in which it collected, or the one before, ends well: n8n may have died, or given up, before the
 * answer reached it. A call too many could let the execution go on from another node that waits.
 */
export const collect = (wait: Wait, now: Date): Wait =>
  wait.collectedAt !== null
    ? wait
    : {
        ...wait,
        collectedAt: timestamp(now),
        resume: {
          ...wait.resume,
          state: 'done',
          nextAt: hasEndedWell(wait, now) ? null : secondsAfter(now, CONFIRM_AFTER_SECONDS),
          problem: null,
        },
      };

/** Whether the last call ended well, and none can be under way: the next one is not due yet. */
const hasEndedWell = ({ resume: { attempts, nextAt } }: Wait, now: Date): boolean => {
  const status = attempts.at(-1)?.status ?? null;
  return isGood(status) && nextAt !== null && Date.parse(nextAt) > now.getTime();
};

const isGood = (status: number | null): boolean => status !== null && status < 300;

/** A newer wait has the address: the execution has gone on without this one. */
export const supersede = (wait: Wait): Wait => ({
  ...wait,
  resume:
    wait.collectedAt !== null
      ? { ...wait.resume, nextAt: null }
      : { ...wait.resume, state: 'gave_up', nextAt: null, problem: SUPERSEDED },
});

/** How an attempt went. */
export interface MadeAttempt extends Pick<ResumeAttempt, 'status' | 'problem'> {
  /** Whether the answer says that the execution will never go on. */
  readonly isGone: boolean;
}

/** Whether n8n itself has answered. A proxy in front of one that is away says 404 or 502. */
const isOfN8n = ({ status, isGone }: MadeAttempt): boolean =>
  isGone || isGood(status) || status === 409;

/**
 * Records an attempt, and when the next one is due: the execution did not collect the wait, or nobody
 * knows whether it lived long enough to go on.
 */
export function recordAttempt(wait: Wait, made: MadeAttempt, begunAt: Date, now: Date): Wait {
  const isCollected = wait.collectedAt !== null;
  const hasGoneOn = isCollected && isOfN8n(made);
  const attempt = {
    at: timestamp(begunAt),
    status: made.status,
    problem: hasGoneOn ? null : made.problem,
  };
  const attempts = [...wait.resume.attempts, attempt];
  const resume = { ...wait.resume, attempts, nextAt: null };
  const isSuperseded = !isCollected && resume.state !== 'pending';
  if (hasGoneOn || isSuperseded) return { ...wait, resume };
  if (made.isGone)
    return {
      ...wait,
      resume: { ...resume, state: 'gave_up', problem: `${IS_GONE} ${attempt.problem}` },
    };
  const delay = RESUME_DELAYS[attempts.length - 1] ?? RESUME_DELAYS.at(-1)!;
  const nextAt = secondsAfter(now, delay);
  if (Date.parse(nextAt) <= Date.parse(attempts[0]!.at) + RESUME_FOR_MS)
    return { ...wait, resume: { ...resume, nextAt } };
  if (isCollected) return { ...wait, resume };
  const why = `The execution is gone: it did not take the answer within 24 hours. ${attempt.problem ?? ''}`;
  return { ...wait, resume: { ...resume, state: 'gave_up', problem: why.trim() } };
}
