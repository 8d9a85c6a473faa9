import type { Logger } from 'pino';
import type { SteadyClock } from '../domain/clock.ts';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { openSetup } from '../domain/sealedSetup.ts';
import { SENDING_QUEUE, type SendResult, type SendingPolicy } from '../domain/sending.ts';
import type { Job } from '../store/store.ts';
import type { Lease } from '../work/lease.ts';
import { LEASE_MARGIN_MS, WorkLoop } from '../work/workLoop.ts';
import { beginSending, type BegunSending } from './beginSending.ts';
import type { ChannelsConfig } from './channelAdapter.ts';
import { recordSendResult } from './recordSendResult.ts';
import { connectedChannel } from './registry.ts';

export interface SenderOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly log: Logger;
  readonly clock: SteadyClock;
  readonly config: ChannelsConfig;
  readonly retryDelaysMs: readonly number[];
  /** How long a receipt is waited for before a text is sent again that may have arrived. */
  readonly graceMs?: number;
}

/** Texts of one workspace under way at once, over all its accounts. */
const MAX_IN_FLIGHT = 64;
const MAX_IN_FLIGHT_PER_ACCOUNT = 20;
/** A contact's text waits for the answer about the one before, which was claimed earlier. */
const TRIES = 2;
/** Meta's receipts take a second or two; after a restart its webhook has to reach us again. */
const GRACE_MS = 15_000;
/** How long texts that are under way may take to end at a stop. */
const DRAIN_MS = 10_000;

/**
 * Sends what waits for its channel, each contact's texts one after the other in their order, also
 * across retries. A try is on record before it is sent. What a crash or a time-out interrupted may
 * have arrived: its receipt, which names the sending, is waited for; when none comes it is sent
 * again, so that a text may arrive twice rather than never.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #policy: SendingPolicy;
  readonly #inFlight = new Map<string, number>();
  /** The work for a contact that ends last. */
  readonly #lastOf = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #loop: WorkLoop;

  /** Starts at once. */
  constructor(options: SenderOptions) {
    this.#options = options;
    this.#policy = { retryDelaysMs: options.retryDelaysMs, graceMs: options.graceMs ?? GRACE_MS };
    this.#loop = new WorkLoop({
      store: options.store,
      log: options.log,
      clock: options.clock,
      queue: SENDING_QUEUE,
      mostInFlight: MAX_IN_FLIGHT,
      atShare: { bounds: options.deps.bounds, bound: 'workspace_texts' },
      leaseMs: TRIES * options.config.timeoutMs + LEASE_MARGIN_MS,
      freeSlots: (account) => MAX_IN_FLIGHT_PER_ACCOUNT - (this.#inFlight.get(account) ?? 0),
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
  }

  async #run(job: Job, lease: Lease): Promise<void> {
    const { id: contactId, group: account } = job;
    this.#count(account, 1);
    try {
      await this.#inTurn(contactId, () => this.#sendNext(job, lease));
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#options.log.error(
          { err: error, contact: contactId },
          'a text could not be sent or recorded',
        );
    } finally {
      this.#count(account, -1);
    }
  }

  /**
   * A receipt, or a new message after it, makes the contact's next text due while the answer about
   * the one before is still to come.
   */
  async #inTurn(contactId: string, work: () => Promise<void>): Promise<void> {
    const before = this.#lastOf.get(contactId) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.catch(() => {});
    this.#lastOf.set(contactId, settled);
    try {
      await mine;
    } finally {
      if (this.#lastOf.get(contactId) === settled) this.#lastOf.delete(contactId);
    }
  }

  async #sendNext(job: Job, lease: Lease): Promise<void> {
    const { deps, log, config } = this.#options;
    const begun = await this.#loop.record(() =>
      beginSending(deps, job, this.#policy, () => lease.covers(config.timeoutMs)),
    );
    if (!begun) return;
    const startedAt = performance.now();
    const result = await this.#send(begun);
    const recorded = await this.#loop.record(() =>
      recordSendResult(deps, begun.sending, result, this.#policy),
    );
    const { id, messageId, part, attempts } = begun.sending;
    const about = {
      sending: id,
      message: messageId,
      part,
      attempt: attempts,
      channel: begun.channel.id,
      duration_ms: Math.round(performance.now() - startedAt),
    };
    if (result.type === 'sent') log.debug(about, 'sent');
    else
      log.info(
        { ...about, reason: result.error, next_attempt_at: recorded?.nextAttemptAt ?? null },
        'a text was not sent',
      );
  }

  /** @throws the signal's reason, at a stop */
  async #send({ sending, contact, channel }: BegunSending): Promise<SendResult> {
    const { deps, config, log } = this.#options;
    const { signal } = this.#stopping;
    try {
      const account = { channel, values: openSetup(deps, channel) };
      const text = { sendingId: sending.id, text: sending.text, to: contact };
      return await connectedChannel(channel.type).send(text, account, { config, signal });
    } catch (error) {
      signal.throwIfAborted();
      log.error({ err: error, sending: sending.id }, 'an adapter failed');
      return {
        type: 'failed',
        error: 'This could not be sent because of an error of the service; see its log.',
        isRefused: false,
        retryAfterMs: null,
        mayHaveArrived: true,
      };
    }
  }

  #count(account: string, by: 1 | -1): void {
    const now = (this.#inFlight.get(account) ?? 0) + by;
    if (now === 0) this.#inFlight.delete(account);
    else this.#inFlight.set(account, now);
  }
}
