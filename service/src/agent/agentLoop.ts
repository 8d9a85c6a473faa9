import type { Logger } from 'pino';
import { AGENT_QUEUE } from '../domain/agentTurn.ts';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { refusalOf } from '../limits/room.ts';
import { shareOf, StoreUnavailable } from '../store/store.ts';
import { LEASE_MARGIN_MS, WorkLoop } from '../work/workLoop.ts';
import type { AgentModel } from './agentModel.ts';
import { decideTurn, failedTurn, type Outcome } from './decideTurn.ts';
import { loadTurn, type LoadedTurn } from './loadTurn.ts';
import { recordOutcome } from './recordOutcome.ts';

export interface AgentLoopOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly model: AgentModel;
  readonly log: Logger;
  /** A model that has not answered by then has failed. */
  readonly timeoutMs: number;
}

/** Conversations of one workspace that a model thinks about at once. */
const MAX_IN_FLIGHT = 32;
/** A model ends itself when its time is over, and says so; this is for one that does not. */
const GRACE_MS = 1000;

/**
 * The agent: takes up each conversation that asks for it, decides one step, records it. A step is
 * either tool calls, whose end asks again, or the last of its turn. All it knows is in the store:
 * after a crash the conversation is taken up again, and what was worked out before is dropped.
 */
export class AgentLoop {
  readonly #options: AgentLoopOptions;
  readonly #stopping = new AbortController();
  readonly #loop: WorkLoop;

  /** Starts at once. */
  constructor(options: AgentLoopOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      store: options.store,
      log: options.log,
      queue: AGENT_QUEUE,
      mostInFlight: MAX_IN_FLIGHT,
      atShare: { bounds: options.deps.bounds, bound: 'workspace_agent_turns' },
      leaseMs: options.timeoutMs + LEASE_MARGIN_MS,
      // A reply adds to what is stored: it waits until there is room.
      freeSlots: (group) =>
        refusalOf(options.store.pressure, 'data', shareOf(group)) === null ? 1 : 0,
      run: async (jobs, done) =>
        void (await Promise.all(jobs.map((job) => this.#run(job.id).finally(() => done(job))))),
    });
  }

  /** Takes up no more conversations; a model that is thinking is not waited for. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#loop.stop();
  }

  async #run(conversationId: string): Promise<void> {
    const { deps, log } = this.#options;
    try {
      const turn = await this.#loop.record(() => loadTurn(deps, conversationId));
      if (!turn) return;
      const { outcome, used } = await this.#take(turn);
      log.debug({ conversation: conversationId, outcome: outcome.type, used }, 'agent turn');
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        log.error(
          { err: error, conversation: conversationId },
          'an agent turn could not be worked out or recorded; it is taken up again',
        );
    }
  }

  /** A turn that fails in a way nobody foresaw would fail again: a person gets the conversation. */
  async #take(turn: LoadedTurn): Promise<{ outcome: Outcome; used: boolean }> {
    try {
      return await this.#record(turn, await this.#decide(turn));
    } catch (error) {
      if (this.#stopping.signal.aborted || error instanceof StoreUnavailable) throw error;
      this.#options.log.error(
        { err: error, conversation: turn.conversation.id },
        'an agent turn failed',
      );
      return this.#record(
        turn,
        failedTurn(turn, 'The service failed to work out or record a reply; its log says more.'),
      );
    }
  }

  #decide(turn: LoadedTurn): Promise<Outcome> {
    const { deps, model, timeoutMs } = this.#options;
    const { signal } = this.#stopping;
    const modelSignal = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + GRACE_MS)]);
    return decideTurn(turn, model, { now: deps.clock.now(), signal, modelSignal });
  }

  async #record(turn: LoadedTurn, outcome: Outcome): Promise<{ outcome: Outcome; used: boolean }> {
    const { deps, log } = this.#options;
    if (outcome.type === 'hand_over' && outcome.reason === 'agent_error')
      log.warn(
        { conversation: turn.conversation.id, reason: outcome.note },
        'the agent failed and handed over',
      );
    return { outcome, used: await this.#loop.record(() => recordOutcome(deps, turn, outcome)) };
  }
}
