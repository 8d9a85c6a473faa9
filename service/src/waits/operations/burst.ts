import { loadConversation, type Conversation, type Message } from '../../conversations/index.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import { languagesOf, readAnswer, type AnswerValue } from '../accept.ts';
import { askAgain, secondsBetween, type Wait, type WaitAnswer } from '../wait.ts';
import { putEnded } from './endWait.ts';
import { askCustomer } from './openWait.ts';
import { findWritten, putWait } from './waits.ts';

type Parts = Pick<Deps, 'messaging' | 'reactions'>;

/** A question to a customer. The caller has locked both. */
interface Asked {
  readonly wait: Wait;
  readonly conversation: Conversation;
}

/** More messages than one answer has. Of a longer one, the newest count. */
const MAX_BURST_MESSAGES = 100;

/**
 * The customer wrote while a wait asks them: it is judged once they have been quiet for a moment.
 * In the caller's transaction, which has stored the messages and locked the conversation.
 */
export async function noteAnswer(
  tx: Tx,
  { replyWaitId }: Conversation,
  quietMs: number,
  now: Date,
): Promise<void> {
  const wait = replyWaitId ? await tx.waits.get(replyWaitId) : null;
  if (wait?.status !== 'open') return;
  await putWait(tx, { ...wait, judgeAt: timestamp(new Date(now.getTime() + quietMs)) });
}

/**
 * Judges what the customer has written since the last time: it is the answer, or the question is asked
 * again until all attempts are used. A customer who asks for a person gets one, unless the question
 * offers that as a choice.
 * @param isLast when the time is over, nothing is asked again
 */
export async function judgeBurst(
  tx: Tx,
  deps: Parts,
  asked: Asked,
  isLast: boolean,
  now: Date,
): Promise<void> {
  const { wait, conversation } = asked;
  const burst = await findBurst(tx, wait);
  const value = burst.length === 0 ? null : await readBurst(tx, deps, wait, burst);
  const isOffered = wait.accept.type === 'choice' && value !== null;
  if (!isOffered && (await deps.reactions.asksForPerson(tx, conversation, burst)))
    return deps.reactions.onPersonAsked(tx, conversation, now);
  if (value !== null) {
    const answer = answerOf(wait, burst, value);
    return putEnded(tx, deps, asked, { status: 'answered', answer }, now);
  }
  const isUsedUp = wait.refusedAnswers + 1 >= wait.maxAttempts;
  if (isLast || isUsedUp) {
    const answer = burst.length === 0 ? null : answerOf(wait, burst, null);
    const status = isLast ? 'expired' : 'not_accepted';
    return putEnded(tx, deps, asked, { status, answer }, now);
  }
  await ask(tx, deps, asked, wait.retryMessage ?? wait.message, now);
  await putWait(tx, askAgain(wait, burst.at(-1)?.number ?? wait.judgedThrough, now));
}

/** Reminds the customer, once, if they have not written since. */
export async function remind(tx: Tx, deps: Parts, asked: Asked, now: Date): Promise<void> {
  const { wait } = asked;
  await ask(tx, deps, asked, wait.remindMessage ?? wait.message, now);
  await putWait(tx, { ...wait, remindAt: null });
}

/** Sends another text of the wait, always beside the agent, under the name that the question has. */
async function ask(
  tx: Tx,
  deps: Parts,
  { wait, conversation }: Asked,
  text: string,
  now: Date,
): Promise<void> {
  const workspace = (await tx.workspaces.peek(wait.workspaceId))!; // workspaces are never removed
  const view = await loadConversation(tx, workspace, conversation.id);
  const question = wait.questionId === null ? null : await tx.messages.peek(wait.questionId);
  const decidedBy = question?.decidedBy;
  const sender = {
    actor:
      question?.sender.type === 'agent'
        ? ({ type: 'agent', name: question.sender.name } as const)
        : wait.createdBy,
    isBesideAgent: true,
    ...(decidedBy === undefined ? {} : { decidedBy }),
  };
  await askCustomer(tx, deps, wait, view, text, sender, now);
}

async function findBurst(tx: Tx, wait: Wait): Promise<readonly Message[]> {
  const written = await findWritten(tx, wait, MAX_BURST_MESSAGES);
  return written.filter(({ number }) => number > wait.judgedThrough).toReversed();
}

async function readBurst(
  tx: Tx,
  { reactions }: Parts,
  { accept, message, workspaceId }: Wait,
  burst: readonly Message[],
): Promise<AnswerValue | null> {
  const texts = burst.map(({ text }) => text);
  const languages = await reactions.agentLanguages(tx, workspaceId);
  return readAnswer(accept, texts, {
    languages: languagesOf([message, ...texts], languages),
    // "Tomorrow" is as the customer meant it, however late it is read.
    now: new Date(burst.at(-1)!.createdAt),
  });
}

const answerOf = (
  { createdAt }: Wait,
  burst: readonly Message[],
  value: AnswerValue | null,
): WaitAnswer => ({
  messages: burst.map(({ id, text, createdAt: at }) => ({ id, text, createdAt: at })),
  value,
  secondsWaited: secondsBetween(createdAt, burst.at(-1)!.createdAt),
});
