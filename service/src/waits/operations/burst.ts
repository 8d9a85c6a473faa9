import { loadConversation, type Conversation, type Message } from '../../conversations/index.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import { languagesOf, readAnswer, type AnswerValue } from '../accept.ts';
import { askAgain, secondsBetween, type Wait, type WaitAnswer } from '../wait.ts';
import { putEnded } from './endWait.ts';
import { askCustomer } from './openWait.ts';
import { findReplies, putWait } from './waits.ts';

type Parts = Pick<Deps, 'messaging' | 'reactions'>;

/** A question to a customer. The caller has locked the wait and the conversation. */
interface LockedQuestion {
  readonly wait: Wait;
  readonly conversation: Conversation;
}

/** More messages than one answer has. In a longer answer, only the newest count. */
const MAX_BURST_MESSAGES = 100;

/**
 * Notes that the customer wrote while a wait asks them: the messages are judged once they have been
 * quiet for a moment. The caller's transaction has stored them and locked the conversation.
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
 * @param isLast the time is over, so the question is not asked again
 */
export async function judgeBurst(
  tx: Tx,
  deps: Parts,
  question: LockedQuestion,
  isLast: boolean,
  now: Date,
): Promise<void> {
  const { wait, conversation } = question;
  const burst = await findBurst(tx, wait);
  const value = burst.length === 0 ? null : await readBurst(tx, deps, wait, burst);
  const isOffered = wait.accept.type === 'choice' && value !== null;
  if (!isOffered && (await deps.reactions.asksForPerson(tx, conversation, burst)))
    return deps.reactions.onPersonAsked(tx, conversation, now);
  if (value !== null) {
    const answer = answerOf(wait, burst, value);
    return putEnded(tx, deps, question, { status: 'answered', answer }, now);
  }
  const isUsedUp = wait.refusedAnswers + 1 >= wait.maxAttempts;
  if (isLast || isUsedUp) {
    const answer = burst.length === 0 ? null : answerOf(wait, burst, null);
    const status = isLast ? 'expired' : 'not_accepted';
    return putEnded(tx, deps, question, { status, answer }, now);
  }
  await ask(tx, deps, question, wait.retryMessage ?? wait.message, now);
  await putWait(tx, askAgain(wait, burst.at(-1)?.number ?? wait.judgedThrough, now));
}

/** Reminds the customer. A wait does so only once. */
export async function remind(
  tx: Tx,
  deps: Parts,
  question: LockedQuestion,
  now: Date,
): Promise<void> {
  const { wait } = question;
  await ask(tx, deps, question, wait.remindMessage ?? wait.message, now);
  await putWait(tx, { ...wait, remindAt: null });
}

/** Sends another text of the wait, always beside the agent, in the name that sent the question. */
async function ask(
  tx: Tx,
  deps: Parts,
  { wait, conversation }: LockedQuestion,
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
  const written = await findReplies(tx, wait, MAX_BURST_MESSAGES);
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
    // "Tomorrow" counts from when the customer wrote it, however late it is read.
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
