import { deadlineAfter } from '../platform/async/deadline.ts';
import { AGENT_QUEUE, usesWebhook } from './agentSettings.ts';
import { refusalOf } from '../platform/limits/room.ts';
import { shareOf, StoreUnavailable } from '../store/store.ts';
import {
  LEASE_MARGIN_MS,
  startWorker,
  type JobContext,
  type Work,
  type Worker,
} from '../platform/jobs/worker.ts';
import type { AgentModel, Deferred } from './agentModel.ts';
import { decideTurn, failedTurn, type Outcome } from './turn/decideTurn.ts';
import { loadTurn, type LoadedTurn } from './turn/loadTurn.ts';
import { typingWhile } from './typingWhile.ts';
import { recordOutcome } from './turn/recordOutcome.ts';

interface AgentLoopOptions extends Work {
  readonly model: AgentModel;
  /** How long the model may take for a step before it has failed. */
  readonly timeoutMs: number;
}

/** The most turns of one workspace that are decided at the same time. */
const MAX_PER_WORKSPACE = 32;
/** A model keeps to its time-out by itself. If it does not, it is aborted this much later. */
const GRACE_MS = 1000;

/**
 * Runs the agent: decides and records one step for each conversation that wakes it. A step either
 * makes tool calls, which wake the agent again when they end, or ends the turn. All state is in
 * the store. After a crash, an unfinished step is dropped and decided again.
 */
export const startAgent = (options: AgentLoopOptions): Worker =>
  startWorker({
    ...options,
    queue: AGENT_QUEUE,
    maxPerWorkspace: MAX_PER_WORKSPACE,
    // A reply adds to what is stored, so it waits until there is room.
    freeInGroup: (group) =>
      refusalOf(options.deps.store.pressure, 'data', shareOf(group)) === null ? 1 : 0,
    bound: 'workspace_agent_turns',
    leaseMs: options.timeoutMs + LEASE_MARGIN_MS,
    drainMs: 0, // a stop does not wait for a model that is thinking
    run: ({ id }, context) => takeTurn(options, id, context),
    onFailure: {
      message: 'an agent turn could not be decided or recorded; it is taken up again',
      idField: 'conversation',
    },
  });

async function takeTurn(
  options: AgentLoopOptions,
  conversationId: string,
  context: JobContext,
): Promise<void> {
  const { deps, log } = options;
  const turn = await context.retry(() => loadTurn(deps, conversationId));
  if (!turn) return;
  const outcome = await typingWhile(
    deps,
    turn,
    { maxMs: options.timeoutMs + LEASE_MARGIN_MS, retry: context.retry },
    () => decideAndRecord(options, turn, context),
  );
  log.debug({ conversation: conversationId, ...outcome }, 'agent turn');
}

interface Recorded {
  readonly outcome: Outcome['type'];
  readonly used: boolean;
}

/** A turn that fails unexpectedly would fail again, so a person gets the conversation. */
async function decideAndRecord(
  options: AgentLoopOptions,
  turn: LoadedTurn,
  context: JobContext,
): Promise<Recorded> {
  try {
    return await record(options, turn, await decide(options, turn, context.signal), context);
  } catch (error) {
    if (context.signal.aborted || error instanceof StoreUnavailable) throw error;
    const conversation = turn.conversation.id;
    options.log.error({ err: error, conversation }, 'an agent turn failed');
    const outcome = failedTurn(
      turn,
      'The service failed to decide or record a reply. Its log has the details.',
    );
    return record(options, turn, outcome, context);
  }
}

/** Leaves every decision to the workflow that is the agent, which gets the turn and answers later. */
const webhookModel: AgentModel<Deferred> = {
  decidedBy: 'webhook',
  next: async () => ({ type: 'deferred' }),
};

async function decide(
  { deps, model, timeoutMs }: AgentLoopOptions,
  turn: LoadedTurn,
  signal: AbortSignal,
): Promise<Outcome> {
  using tooLate = deadlineAfter(timeoutMs + GRACE_MS);
  const modelSignal = AbortSignal.any([signal, tooLate.signal]);
  const decider = usesWebhook(turn.settings) ? webhookModel : model;
  return await decideTurn(turn, decider, { now: deps.clock.now(), signal, modelSignal });
}

async function record(
  { deps, log }: AgentLoopOptions,
  turn: LoadedTurn,
  outcome: Outcome,
  { retry }: JobContext,
): Promise<Recorded> {
  if (outcome.type === 'hand_over' && outcome.reason === 'agent_error')
    log.warn(
      { conversation: turn.conversation.id, reason: outcome.note },
      'the agent failed and handed over',
    );
  return { outcome: outcome.type, used: await retry(() => recordOutcome(deps, turn, outcome)) };
}
