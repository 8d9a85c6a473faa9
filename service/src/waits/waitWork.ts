import type { Deps } from '../platform/deps.ts';
import type { Job } from '../store/store.ts';
import type { Tx } from '../store/collections.ts';
import type { Conversation } from '../conversations/index.ts';
import { judgeBurst, remind } from './operations/burst.ts';
import { putEnded } from './operations/endWait.ts';
import { findNewestByResumeUrl, lockWait, putWait, scheduleWait } from './operations/waits.ts';
import type { BegunResume } from './resume.ts';
import { supersede } from './resumption.ts';
import { isOpen, type Wait } from './wait.ts';

type Parts = Pick<Deps, 'store' | 'clock' | 'secrets' | 'messaging' | 'reactions'>;

interface Done {
  /** The call to make now. Its job stays claimed, so that the call is made again after a crash. */
  readonly resume: BegunResume | null;
  /** The wait, if its end was seen for the first time. */
  readonly ended: Wait | null;
}

const NOTHING: Done = { resume: null, ended: null };

/**
 * Does what is due for a wait, in one transaction: judges what the customer wrote, reminds them, or
 * ends the wait. The conversation is locked, so that a message, a take-over and the end of the time
 * take effect one after the other, also when they come at the same moment.
 * @param job the claimed job, which is due even if the wall clock has been set back since
 */
export const doWaitWork = (deps: Parts, { id, runAt }: Pick<Job, 'id' | 'runAt'>) =>
  deps.store.transaction(async (tx): Promise<Done> => {
    const now = deps.clock.now();
    const locked = await lockWait(tx, id);
    if (!locked) {
      await tx.jobs.complete(id);
      return NOTHING;
    }
    const at = Math.max(now.getTime(), runAt);
    if (isOpen(locked.wait)) {
      await workOnOpen(tx, deps, locked, at, now);
      return NOTHING;
    }
    return workOnEnded(tx, deps, locked.wait, at, now);
  });

async function workOnOpen(
  tx: Tx,
  deps: Parts,
  locked: { wait: Wait; conversation: Conversation | null },
  at: number,
  now: Date,
): Promise<void> {
  const { wait, conversation } = locked;
  const isDue = (time: string | null) => time !== null && Date.parse(time) <= at;
  if (await isUndeliverable(tx, wait))
    return putEnded(tx, deps, locked, { status: 'undeliverable' }, now);
  const isExpired = isDue(wait.expiresAt);
  if (conversation !== null && wait.judgeAt !== null && (isExpired || isDue(wait.judgeAt)))
    return judgeBurst(tx, deps, { wait, conversation }, isExpired, now);
  if (isExpired) return putEnded(tx, deps, locked, { status: 'expired' }, now);
  if (conversation !== null && wait.judgeAt === null && isDue(wait.remindAt))
    return remind(tx, deps, { wait, conversation }, now);
  return scheduleWait(tx, wait);
}

/** Whether the question could not be delivered, and the customer has not written. */
async function isUndeliverable(tx: Tx, wait: Wait): Promise<boolean> {
  if (wait.questionId === null || wait.judgeAt !== null || wait.refusedAnswers > 0) return false;
  return (await tx.messages.peek(wait.questionId))?.delivery?.state === 'failed';
}

async function workOnEnded(
  tx: Tx,
  deps: Parts,
  wait: Wait,
  at: number,
  begunAt: Date,
): Promise<Done> {
  const ended = wait.isCounted ? null : wait;
  const counted = { ...wait, isCounted: true };
  const { nextAt } = wait.resume;
  const isDue = nextAt !== null && Date.parse(nextAt) <= at;
  if (!isDue) {
    if (ended === null) await scheduleWait(tx, wait);
    else await putWait(tx, counted);
    return { resume: null, ended };
  }
  if ((await findNewestByResumeUrl(tx, wait))?.id !== wait.id) {
    await putWait(tx, supersede(counted));
    return { resume: null, ended };
  }
  if (ended !== null) await tx.waits.put(counted);
  const url = deps.secrets.open(wait.sealedResumeUrl);
  return { resume: { wait: counted, url, begunAt }, ended };
}
