import type { Logger } from 'pino';
import type { SteadyClock } from '../domain/clock.ts';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { MAX_TOOL_TIMEOUT_SECONDS } from '../domain/tool.ts';
import { TOOL_CALL_QUEUE } from '../domain/toolCall.ts';
import type { OutboundClient } from '../outbound/outboundClient.ts';
import type { Job } from '../store/store.ts';
import type { Lease } from '../work/lease.ts';
import { LEASE_MARGIN_MS, WorkLoop } from '../work/workLoop.ts';
import { AnswerThread, MAX_READ_MS } from './answerReader.ts';
import { attemptToolCall, CONNECTION_WAIT_MS } from './attemptToolCall.ts';
import { beginToolCall } from './beginToolCall.ts';
import { LargeResults } from './largeResults.ts';
import { recordToolResult } from './recordToolResult.ts';
import { envelopeOf } from './toolRequest.ts';

export interface ToolRunnerOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly outbound: Pick<OutboundClient, 'request'>;
  readonly log: Logger;
  readonly clock: SteadyClock;
  /** Before the second and the third attempt, after a 5xx or a network error. */
  readonly retryDelaysMs: readonly number[];
}

/**
 * Calls of one workspace under way at once: eight tools that hang take all of them, and none of
 * another workspace's.
 */
const MAX_IN_FLIGHT = 128;
const MAX_IN_FLIGHT_PER_TOOL = 16;
/** How long calls that are under way may take to end at a stop. */
const DRAIN_MS = 10_000;

/**
 * Makes the tool calls that are due: test calls, the agent's, approved ones. Each attempt is on
 * record before it is sent, so that after a crash nothing is made twice that must not be.
 */
export class ToolRunner {
  readonly #options: ToolRunnerOptions;
  readonly #inFlight = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #reader: AnswerThread;
  readonly #largeResults = new LargeResults();
  readonly #loop: WorkLoop;

  /** Starts at once. */
  constructor(options: ToolRunnerOptions) {
    this.#options = options;
    this.#reader = new AnswerThread(options.deps.bounds, options.log);
    this.#loop = new WorkLoop({
      store: options.store,
      log: options.log,
      clock: options.clock,
      queue: TOOL_CALL_QUEUE,
      mostInFlight: MAX_IN_FLIGHT,
      atShare: { bounds: options.deps.bounds, bound: 'workspace_tool_calls' },
      leaseMs: MAX_TOOL_TIMEOUT_SECONDS * 1000 + CONNECTION_WAIT_MS + MAX_READ_MS + LEASE_MARGIN_MS,
      freeSlots: (tool) => MAX_IN_FLIGHT_PER_TOOL - (this.#inFlight.get(tool) ?? 0),
      run: async (jobs, done, lease) =>
        void (await Promise.all(jobs.map((job) => this.#run(job, lease).finally(() => done(job))))),
    });
  }

  /**
   * Takes no more work and gives what is under way a moment to end; the rest is taken up after a
   * start, as after a crash.
   */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#stopping.abort(), DRAIN_MS);
    await this.#loop.stop();
    clearTimeout(timer);
    await this.#reader.close();
  }

  async #run({ id, group }: Job, lease: Lease): Promise<void> {
    this.#count(group, 1);
    try {
      await this.#attempt(id, lease);
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#options.log.error(
          { err: error, tool_call: id },
          'a tool call could not be made or recorded',
        );
    } finally {
      this.#count(group, -1);
    }
  }

  async #attempt(id: string, lease: Lease): Promise<void> {
    const { deps, outbound, log, retryDelaysMs } = this.#options;
    const begun = await this.#loop.record(() => beginToolCall(deps, id, lease));
    if (!begun) return;
    const { call, address, timeoutMs } = begun;
    const at = {
      workspaceId: call.workspaceId,
      now: deps.clock.now(),
      timeoutMs,
      signal: this.#stopping.signal,
    };
    const result = await attemptToolCall(
      { outbound, reader: this.#reader },
      address,
      envelopeOf(call),
      at,
    );
    const about = {
      tool_call: id,
      tool: call.tool,
      attempt: call.attempts,
      status: result.httpStatus,
      duration_ms: result.durationMs,
    };
    if (result.type === 'success') log.debug(about, 'tool call succeeded');
    else log.info({ ...about, reason: result.error.type }, 'tool call attempt failed');
    await this.#loop.record(() =>
      recordToolResult(deps, call, result, retryDelaysMs, this.#largeResults),
    );
  }

  #count(tool: string, by: 1 | -1): void {
    const now = (this.#inFlight.get(tool) ?? 0) + by;
    if (now === 0) this.#inFlight.delete(tool);
    else this.#inFlight.set(tool, now);
  }
}
