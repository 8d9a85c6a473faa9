import { timestamp } from '../platform/clock.ts';
import { secondsAfter, type ResumeAttempt, type Wait } from './wait.ts';

/** The pure rules for when an execution is called to go on, and when the calls end. */

/** The delays before the second and each further attempt to resume; the last delay repeats. */
const RESUME_DELAYS_SECONDS = [1, 1, 3, 10, 15, 30, 60, 180, 300, 300, 900, 1800];
/** Counted from the first attempt, so that an outage of the service itself does not use up time. */
const RESUME_FOR_MS = 24 * 3600 * 1000;
/** Longer than an attempt: the one that collected the wait is recorded by then, or is lost. */
const CONFIRM_AFTER_SECONDS = 15;

const GONE = 'The execution is gone.';
const SUPERSEDED = 'A newer wait has the same address: the execution is past this one.';

/**
 * Gives the execution its answer. Collecting again changes nothing. The execution is called once
 * more unless the call in which it collected, or the call before, ends well: n8n may have died, or
 * given up, before the answer reached it. A needless call could resume a later node that waits.
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

/** Whether the last call ended well, and none is under way, since the next one is not due yet. */
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

/** Whether n8n itself has answered. When n8n is down, a proxy in front of it answers 404 or 502. */
const isFromN8n = ({ status, isGone }: MadeAttempt): boolean =>
  isGone || isGood(status) || status === 409;

/**
 * Records an attempt. Another one is due when the execution did not collect the wait, or when
 * nobody knows whether it lived long enough to go on.
 */
export function recordAttempt(wait: Wait, made: MadeAttempt, begunAt: Date, now: Date): Wait {
  const isCollected = wait.collectedAt !== null;
  const hasGoneOn = isCollected && isFromN8n(made);
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
      resume: { ...resume, state: 'gave_up', problem: `${GONE} ${attempt.problem}` },
    };
  const delay = RESUME_DELAYS_SECONDS[attempts.length - 1] ?? RESUME_DELAYS_SECONDS.at(-1)!;
  const nextAt = secondsAfter(now, delay);
  if (Date.parse(nextAt) <= Date.parse(attempts[0]!.at) + RESUME_FOR_MS)
    return { ...wait, resume: { ...resume, nextAt } };
  if (isCollected) return { ...wait, resume };
  const why = `The execution is gone: it did not take the answer within 24 hours. ${attempt.problem ?? ''}`;
  return { ...wait, resume: { ...resume, state: 'gave_up', problem: why.trim() } };
}
