import type { Logger } from 'pino';
import type { SteadyClock } from '../domain/clock.ts';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { openSetup } from '../domain/accountSetup.ts';
import { OUTBOUND_QUEUE, type SendResult, type AttemptPolicy } from '../domain/outboundMessage.ts';
import type { Job } from '../store/store.ts';
import { KeyedMutex } from '../work/keyedMutex.ts';
import type { Lease } from '../work/lease.ts';
import { LEASE_MARGIN_MS, WorkLoop } from '../work/workLoop.ts';
import type { ChannelsConfig } from './channelAdapter.ts';
import { beginAttempt, recordAttempt, type BegunAttempt } from './outboundAttempts.ts';
import { connectedChannel } from './registry.ts';

export interface SenderOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly log: Logger;
  readonly clock: SteadyClock;
  readonly config: ChannelsConfig;
  readonly retryDelaysMs: readonly number[];
  /** How long to wait for a receipt before sending again a text that may have arrived. */
  readonly graceMs?: number;
}

/** Texts of one workspace under way at once, over all its accounts. */
const MAX_IN_FLIGHT = 64;
const MAX_IN_FLIGHT_PER_ACCOUNT = 20;
/** A contact's text may wait while the one before, which was claimed earlier, is attempted. */
const ATTEMPTS_PER_LEASE = 2;
/** Meta's receipts take a second or two; after a restart its webhook has to reach us again. */
const GRACE_MS = 15_000;
/** How long texts that are under way may take to end at a stop. */
const DRAIN_MS = 10_000;

/**
 * Sends outbound messages, each contact's one after the other and in order, also across retries. An
 * attempt is on record before it is made. A text that a crash or a time-out interrupted may have
 * arrived: the sender waits for its receipt, and sends it again if none comes. A text may arrive
 * twice rather than never.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #policy: AttemptPolicy;
  readonly #inFlight = new Map<string, number>();
  /**
   * One attempt per contact at a time. A receipt can make a contact's next text due before the answer
   * about the one before has arrived.
   */
  readonly #contacts = new KeyedMutex();
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
      queue: OUTBOUND_QUEUE,
      mostInFlight: MAX_IN_FLIGHT,
      atShare: { bounds: options.deps.bounds, bound: 'workspace_texts' },
      leaseMs: ATTEMPTS_PER_LEASE * options.config.timeoutMs + LEASE_MARGIN_MS,
      freeSlots: (account) => MAX_IN_FLIGHT_PER_ACCOUNT - (this.#inFlight.get(account) ?? 0),
      run: async (jobs, done, lease) =>
        void (await Promise.all(jobs.map((job) => this.#run(job, lease).finally(() => done(job))))),
    });
  }

  /**
   * Takes no more work and gives attempts that are under way a moment to end. The next start
   * continues with the rest, as after a crash.
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
      await this.#contacts.run(contactId, () => this.#sendNext(job, lease));
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

  async #sendNext(job: Job, lease: Lease): Promise<void> {
    const { deps, log, config } = this.#options;
    const begun = await this.#loop.record(() =>
      beginAttempt(deps, job, this.#policy, () => lease.covers(config.timeoutMs)),
    );
    if (!begun) return;
    const startedAt = performance.now();
    const result = await this.#send(begun);
    const recorded = await this.#loop.record(() =>
      recordAttempt(deps, begun.outbound, result, this.#policy),
    );
    const { id, messageId, part, attempts } = begun.outbound;
    const about = {
      outbound_message: id,
      message: messageId,
      part,
      attempt: attempts,
      channel: begun.channel.id,
      duration_ms: Math.round(performance.now() - startedAt),
    };
    if (result.type === 'sent') log.debug(about, 'a text was sent');
    else
      log.info(
        { ...about, reason: result.error, next_attempt_at: recorded?.nextAttemptAt ?? null },
        'a text was not sent',
      );
  }

  /** @throws the signal's reason, at a stop */
  async #send({ outbound, contact, channel }: BegunAttempt): Promise<SendResult> {
    const { deps, config, log } = this.#options;
    const { signal } = this.#stopping;
    try {
      const account = { channel, values: openSetup(deps, channel) };
      const text = { outboundMessageId: outbound.id, text: outbound.text, to: contact };
      return await connectedChannel(channel.type).send(text, account, { config, signal });
    } catch (error) {
      signal.throwIfAborted();
      log.error({ err: error, outbound_message: outbound.id }, 'an adapter failed');
      return {
        type: 'failed',
        error: 'The service failed to send this message. Its log has the details.',
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
