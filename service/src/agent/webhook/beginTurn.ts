import {
  beginTyping,
  findNewestMessages,
  type Conversation,
  type Message,
} from '../../conversations/index.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Lease } from '../../platform/jobs/worker.ts';
import type { Tx } from '../../store/collections.ts';
import type { Job } from '../../store/store.ts';
import { usesWebhook } from '../agentSettings.ts';
import { inventConversation } from '../inventedConversation.ts';
import { putFailed } from './operations/answerTurn.ts';
import { findAgentSettings } from '../operations/settings.ts';
import { wakeAgent } from '../operations/wakeAgent.ts';
import { findOpenTurns, lockTurn, putSuperseded, type LockedTurn } from './operations/turns.ts';
import { findTarget, findTestTarget, type TurnTarget } from './agentWebhook.ts';
import type { TurnToSend } from './attemptTurn.ts';
import { MAX_HISTORY_MESSAGES, turnBody, type TurnSubject } from './turnRequest.ts';
import {
  enqueueTurn,
  isOpen,
  retryDelayMs,
  TURN_PATIENCE_MS,
  type WebhookTurn,
} from './webhookTurn.ts';

/** What is to be done about a turn whose job is due. */
export type BegunTurn =
  /** The attempt is recorded; send it now. */
  | {
      readonly type: 'send';
      readonly turn: WebhookTurn;
      readonly request: TurnToSend;
    }
  /** The turn has ended, or rests (`ended` is null): a call that is under way has to be let go. */
  | { readonly type: 'let_go'; readonly ended: WebhookTurn | null }
  /** Nothing is to be sent now. If a step is left, a job takes it later. */
  | { readonly type: 'wait' };

const WAIT = { type: 'wait' } as const;
/** So that the process that makes the call sees its time-out before the turn's job is due. */
const DEADLINE_MARGIN_MS = 1000;

/**
 * Takes the due step of a turn: records an attempt before anything is sent, looks for the
 * workflow again, or ends the turn at its deadline. From the moment that an attempt is recorded, the
 * turn's job waits for the deadline, so a crash is noticed then.
 * @param job the claimed job. It is due even if the wall clock has been set back since.
 * @param lease when it has too little time left, another worker takes the step
 */
export const beginTurn = (
  deps: Deps,
  { id, runAt }: Pick<Job, 'id' | 'runAt'>,
  lease: Pick<Lease, 'covers'>,
): Promise<BegunTurn> =>
  deps.store.transaction(async (tx): Promise<BegunTurn> => {
    const locked = await lockTurn(tx, id);
    // After a pause, another process may have begun the attempt.
    if (!lease.covers(0)) return WAIT;
    if (!locked || !isOpen(locked.turn) || locked.turn.status === 'suspended') {
      await tx.jobs.complete(id);
      const ended = locked && !isOpen(locked.turn) ? locked.turn : null;
      return { type: 'let_go', ended };
    }
    const now = deps.clock.now();
    if (locked.turn.status === 'running') {
      // After the job was claimed, the turn went on from a rest, with a new deadline.
      const deadline = locked.turn.deadline === null ? 0 : Date.parse(locked.turn.deadline);
      if (deadline > Math.max(now.getTime(), runAt)) {
        await enqueueTurn(tx, locked.turn, deadline);
        return WAIT;
      }
      await putFailed(tx, deps, locked, lateInWords(locked.turn));
      return WAIT;
    }
    if (locked.misfit !== null) {
      await putSuperseded(tx, locked.turn, locked.misfit, now);
      return WAIT;
    }
    if (await leaveToAnotherBrain(tx, locked, now)) return WAIT;
    const target = await targetOf(tx, locked.turn, now);
    if (target === null) {
      await retryOrFail(tx, deps, locked, 'No workflow is published as the agent.');
      return WAIT;
    }
    return putAttempt(tx, deps, locked, target, now);
  });

/**
 * Ends a turn that has not been sent, if the team has chosen another brain since: that one answers.
 * @returns whether it did
 */
async function leaveToAnotherBrain(
  tx: Tx,
  { turn, conversation }: LockedTurn,
  now: Date,
): Promise<boolean> {
  if (conversation === null || turn.attempts > 0) return false;
  if (usesWebhook(await findAgentSettings(tx, turn.workspaceId))) return false;
  await putSuperseded(tx, turn, 'Another brain was chosen for the agent.', now);
  await wakeAgent(tx, conversation, now);
  return true;
}

const targetOf = (tx: Tx, { workspaceId, isTest }: WebhookTurn, now: Date) =>
  isTest ? findTestTarget(tx, workspaceId, now) : findTarget(tx, workspaceId);

function lateInWords({ isUnderWay, isResumed, isComingBack, replies }: WebhookTurn): string {
  if (isComingBack) return 'The workflow did not go on in time after its wait had ended.';
  if (replies > 0) return 'The workflow replied that more follows, and then nothing came in time.';
  if (isResumed) return 'The workflow went on after its wait and did not answer in time.';
  return isUnderWay
    ? 'No answer came in time, or the service was restarted before it came.'
    : 'The workflow accepted the turn (202) and then did not answer it in time.';
}

async function putAttempt(
  tx: Tx,
  deps: Deps,
  { turn, conversation }: LockedTurn,
  target: TurnTarget,
  now: Date,
): Promise<BegunTurn> {
  const timeoutMs = target.timeoutSeconds * 1000;
  const deadline = now.getTime() + timeoutMs;
  const sent: WebhookTurn = {
    ...turn,
    status: 'running',
    attempts: turn.attempts + 1,
    isUnderWay: true,
    problem: null,
    startedAt: turn.startedAt ?? timestamp(now),
    deadline: timestamp(new Date(deadline)),
  };
  const subject = await subjectOf(tx, sent, conversation);
  await tx.webhookTurns.put(sent);
  await enqueueTurn(tx, sent, deadline + DEADLINE_MARGIN_MS);
  if (!sent.isTest) await beginTyping(tx, deps, subject.view, new Date(deadline), now);
  const { endpoint, sealedSecret } = target;
  return {
    type: 'send',
    turn: sent,
    request: {
      id: sent.id,
      workspaceId: sent.workspaceId,
      endpoint,
      secret: deps.secrets.open(sealedSecret),
      body: JSON.stringify(turnBody(subject)),
      timeoutMs,
    },
  };
}

async function subjectOf(
  tx: Tx,
  turn: WebhookTurn,
  conversation: Conversation | null,
): Promise<TurnSubject> {
  const workspace = (await tx.workspaces.peek(turn.workspaceId))!;
  const settings = await findAgentSettings(tx, workspace.id);
  if (conversation === null) {
    const { message, ...view } = inventConversation(
      workspace,
      turn.tried?.text ?? '',
      new Date(turn.createdAt),
    );
    return { turn, view, settings, messages: [message], history: [], suspendedTurns: 0 };
  }
  const contact = (await tx.contacts.peek(conversation.contactId))!;
  const newest = await findNewestMessages(
    tx,
    conversation.id,
    conversation.messageCount - turn.firstMessage + 1 + MAX_HISTORY_MESSAGES,
  );
  const open = await findOpenTurns(tx, conversation.id);
  const isOfTurn = ({ number, direction, waitId }: Message) =>
    direction === 'inbound' &&
    waitId === undefined &&
    number >= turn.firstMessage &&
    number <= turn.lastMessage;
  return {
    turn,
    view: { workspace, contact, conversation },
    settings,
    messages: newest.filter(isOfTurn).toReversed(),
    history: newest
      .filter((message) => !isOfTurn(message))
      .slice(0, MAX_HISTORY_MESSAGES)
      .toReversed(),
    suspendedTurns: open.filter(({ status }) => status === 'suspended').length,
  };
}

/**
 * Makes a turn that could not be sent wait for its next attempt. After a minute, it fails instead.
 * @param locked an open turn
 * @param problem why, for the team
 */
export async function retryOrFail(
  tx: Tx,
  deps: Deps,
  locked: LockedTurn,
  problem: string,
): Promise<WebhookTurn> {
  const now = deps.clock.now();
  const { turn } = locked;
  const startedAt = turn.startedAt === null ? now.getTime() : Date.parse(turn.startedAt);
  const elapsedMs = Math.max(0, now.getTime() - startedAt);
  if (elapsedMs >= TURN_PATIENCE_MS) return putFailed(tx, deps, locked, problem);
  const waiting: WebhookTurn = {
    ...turn,
    status: 'queued',
    isUnderWay: false,
    deadline: null,
    startedAt: timestamp(new Date(startedAt)),
    problem,
  };
  await tx.webhookTurns.put(waiting);
  const waitMs = Math.min(retryDelayMs(elapsedMs), TURN_PATIENCE_MS - elapsedMs);
  await enqueueTurn(tx, waiting, now.getTime() + waitMs);
  return waiting;
}
