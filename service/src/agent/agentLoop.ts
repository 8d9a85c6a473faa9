import type { Logger } from 'pino';
import { AGENT_QUEUE } from '../domain/agentTurn.ts';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { persistently } from '../work/persistently.ts';
import { WorkLoop } from '../work/workLoop.ts';
import type { AgentModel } from './agentModel.ts';
import { decideTurn } from './decideTurn.ts';
import { loadTurn } from './loadTurn.ts';
import { recordOutcome } from './recordOutcome.ts';

export interface AgentLoopOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly model: AgentModel;
  readonly log: Logger;
  /** A model that has not answered by then has failed. */
  readonly timeoutMs: number;
}

const MOST_IN_FLIGHT = 32;
/** What a lease has beyond the model's time, for recording the outcome. */
const LEASE_MARGIN_MS = 30_000;

/**
 * The agent: takes up each conversation that asks for it, decides one step, records it. A step is
 * either tool calls, whose end asks again, or the last of its turn. All it knows is in the store: after
 * a crash the conversation is taken up again, and what was worked out before is dropped.
 * @see design section 3, Agent
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
      clock: options.deps.clock,
      log: options.log,
      queue: AGENT_QUEUE,
      mostInFlight: MOST_IN_FLIGHT,
      leaseMs: options.timeoutMs + LEASE_MARGIN_MS,
      freeSlots: () => 1,
      run: async (jobs, done) => void (await Promise.all(jobs.map(({ id }) => this.#run(id).finally(done)))),
    });
  }

  /** Takes up no more conversations; a model that is thinking is not waited for. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#loop.stop();
  }

  async #run(conversationId: string): Promise<void> {
    const { deps, model, log, timeoutMs } = this.#options;
    try {
      const turn = await loadTurn(deps, conversationId);
      if (!turn) return;
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(timeoutMs)]);
      const outcome = await decideTurn(turn, model, { now: deps.clock.now(), signal: this.#stopping.signal, modelSignal: signal });
      if (outcome.type === 'hand_over' && outcome.reason === 'agent_error') log.warn({ conversation: conversationId, reason: outcome.note }, 'the agent failed and handed over');
      const used = await persistently(() => recordOutcome(deps, turn, outcome), LEASE_MARGIN_MS);
      log.debug({ conversation: conversationId, outcome: outcome.type, used }, 'agent turn');
    } catch (error) {
      if (!this.#stopping.signal.aborted) log.error({ err: error, conversation: conversationId }, 'an agent turn could not be worked out or recorded; it is taken up again');
    }
  }
}
