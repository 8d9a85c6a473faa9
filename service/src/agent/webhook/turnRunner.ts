import type { Deps } from '../../platform/deps.ts';
import {
  LEASE_MARGIN_MS,
  startWorker,
  type JobContext,
  type Work,
  type Worker,
} from '../../platform/jobs/worker.ts';
import { refusalOf } from '../../platform/limits/room.ts';
import type { OutboundClient } from '../../platform/outbound/outboundClient.ts';
import type { Tx } from '../../store/collections.ts';
import { shareOf, StoreUnavailable, type Job } from '../../store/store.ts';
import { awaitsCall, failTurn, putAnswer, putFailed } from './operations/answerTurn.ts';
import { lockTurn, putSuperseded, type LockedTurn } from './operations/turns.ts';
import { attemptTurn, type TurnAttempt } from './attemptTurn.ts';
import { beginTurn, retryOrFail, type BegunTurn } from './beginTurn.ts';
import { TURN_PATIENCE_MS, WEBHOOK_TURN_QUEUE, type WebhookTurn } from './webhookTurn.ts';

/** Told of each turn that has ended, once. */
export interface TurnObserver {
  ended(turn: WebhookTurn): void;
}

interface TurnRunnerOptions extends Work {
  readonly outbound: Pick<OutboundClient, 'request'>;
  readonly observer: TurnObserver;
}

/** Workflows that hang can use up their workspace's limit, but no other workspace's. */
const MAX_PER_WORKSPACE = 64;

/**
 * Sends turns to the workflow that is the agent. The job of a turn is not held while its call is under
 * way: it waits for the turn's deadline. So neither a long time-out nor a crash holds up anything, and
 * the turn fails in time.
 */
export const startTurnRunner = (options: TurnRunnerOptions): Worker => {
  const { store } = options.deps;
  const calls = new CallsUnderWay();
  return startWorker({
    ...options,
    queue: WEBHOOK_TURN_QUEUE,
    maxPerWorkspace: MAX_PER_WORKSPACE,
    // An answer adds to what is stored, so a turn waits until there is room.
    freeInGroup: (group) => (refusalOf(store.pressure, 'data', shareOf(group)) === null ? 1 : 0),
    bound: 'workspace_webhook_turns',
    leaseMs: LEASE_MARGIN_MS,
    run: (job, context) => takeStep(options, calls, job, context),
    onFailure: {
      message: "a workflow's turn could not be sent or recorded; it is taken up again",
      idField: 'turn',
    },
  });
};

/** The HTTP calls that this process makes, by turn. */
class CallsUnderWay {
  readonly #aborting = new Map<string, AbortController>();

  /** Makes a call that `letGo` ends. @returns null when it was let go */
  async make<T>(id: string, call: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const aborting = new AbortController();
    this.#aborting.set(id, aborting);
    try {
      return await call(aborting.signal);
    } catch (error) {
      if (aborting.signal.aborted) return null;
      throw error;
    } finally {
      if (this.#aborting.get(id) === aborting) this.#aborting.delete(id);
    }
  }

  letGo(id: string): void {
    this.#aborting.get(id)?.abort(new Error('The turn has ended.'));
  }
}

async function takeStep(
  options: TurnRunnerOptions,
  calls: CallsUnderWay,
  job: Job,
  context: JobContext,
): Promise<void> {
  const { deps, observer } = options;
  const begun = await context.retry(() => beginTurn(deps, job, context.lease));
  if (begun.type === 'let_go') {
    calls.letGo(job.id);
    if (begun.ended) observer.ended(begun.ended);
  }
  if (begun.type === 'send') await send(options, calls, begun, context);
}

/** What fails unexpectedly would fail again, so a person gets the conversation. */
async function send(
  options: TurnRunnerOptions,
  calls: CallsUnderWay,
  begun: Sending,
  context: JobContext,
): Promise<void> {
  const { deps, log } = options;
  const { id, conversationId: conversation } = begun.turn;
  try {
    await sendAndRecord(options, calls, begun, context);
  } catch (error) {
    if (context.signal.aborted || error instanceof StoreUnavailable) throw error;
    log.error({ err: error, turn: id, conversation }, "a workflow's turn failed");
    const problem =
      'The service failed to send the turn or to record its answer. Its log says why.';
    await context.retry(() => failTurn(deps, id, problem));
  }
}

type Sending = BegunTurn & { readonly type: 'send' };

async function sendAndRecord(
  { deps, outbound, log }: TurnRunnerOptions,
  calls: CallsUnderWay,
  { turn, request }: Sending,
  { signal, retry }: JobContext,
): Promise<void> {
  const { id, attempts: attempt, conversationId: conversation } = turn;
  const result = await calls.make(id, (letGo) => {
    const ends = AbortSignal.any([signal, letGo]);
    return attemptTurn(outbound, request, { now: deps.clock.now(), signal: ends });
  });
  if (result === null) return;
  if ('problem' in result)
    log.info(
      { turn: id, conversation, attempt, reason: result.problem },
      'a turn was not answered',
    );
  await retry(() => record(deps, turn, result));
}

/** Records what an attempt led to, if the turn still waits for that. */
const record = (deps: Deps, turn: WebhookTurn, result: TurnAttempt) =>
  deps.store.transaction(async (tx) => {
    const locked = await lockTurn(tx, turn.id);
    if (!locked || !awaitsCall(locked.turn, turn.attempts)) return;
    if (locked.misfit !== null)
      return void (await putSuperseded(tx, locked.turn, locked.misfit, deps.clock.now()));
    if (locked.turn.replies > 0) await recordAfterReplies(tx, deps, locked, result);
    else await recordResult(tx, deps, locked, result);
  });

async function recordResult(
  tx: Tx,
  deps: Deps,
  locked: LockedTurn,
  result: TurnAttempt,
): Promise<void> {
  if (result.type === 'answer') await putAnswer(tx, deps, locked, result.answer);
  else if (result.type === 'accepted') await putAccepted(tx, locked);
  else if (result.type === 'not_begun' && (await mayRetry(tx, deps, locked, result)))
    await retryOrFail(tx, deps, locked, result.problem);
  else await putFailed(tx, deps, locked, result.problem);
}

/** The workflow has replied through the API: only how the call ended counts, not what it says. */
async function recordAfterReplies(
  tx: Tx,
  deps: Deps,
  locked: LockedTurn,
  result: TurnAttempt,
): Promise<void> {
  if (result.type === 'answer' || result.type === 'unreadable')
    await putAnswer(tx, deps, locked, { texts: [], then: { type: 'end' } });
  else if (result.type === 'accepted') await putAccepted(tx, locked);
  else await putFailed(tx, deps, locked, result.problem);
}

/** The answer comes through the API. */
const putAccepted = (tx: Tx, { turn }: LockedTurn): Promise<void> =>
  tx.webhookTurns.put({ ...turn, isUnderWay: false });

const mayRetry = async (
  tx: Tx,
  { clock }: Deps,
  { turn }: LockedTurn,
  { isUnauthorized }: TurnAttempt & { readonly type: 'not_begun' },
): Promise<boolean> => !isUnauthorized || (await isNewlyPublished(tx, turn, clock.now()));

/** n8n knows a new secret only a moment after the workflow was published. */
async function isNewlyPublished(tx: Tx, { workspaceId }: WebhookTurn, now: Date): Promise<boolean> {
  const webhook = await tx.agentWebhooks.peek(workspaceId);
  return webhook !== null && now.getTime() - Date.parse(webhook.publishedAt) < TURN_PATIENCE_MS;
}
