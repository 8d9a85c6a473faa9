import type { Logger } from 'pino';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { PAYMENT_QUEUE } from '../domain/payment.ts';
import { paymentPageUrl } from '../domain/webhookAddress.ts';
import type { Job } from '../store/store.ts';
import { LEASE_MARGIN_MS, WorkLoop } from '../work/workLoop.ts';
import { beginAttempt, recordAnswer, type BegunAttempt } from './paymentAttempts.ts';
import { openPaymentAccount } from './accounts.ts';
import type { CheckResult, CreateResult, PaymentsConfig } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

export interface PaymentLoopOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly log: Logger;
  readonly config: PaymentsConfig;
}

/** Payments of one workspace asked about at once, over all its providers. */
const MAX_IN_FLIGHT = 64;
const MAX_IN_FLIGHT_PER_ACCOUNT = 8;
/** What asking may take beyond the provider's own time. */
const ASK_MARGIN_MS = 10_000;
/** How long what is under way may take to end at a stop. */
const DRAIN_MS = 10_000;

/**
 * Does what providers have still to be asked or told about payments, and ends those whose time is
 * over. Each try is on record before a provider is asked, outside of any transaction; what a crash
 * cuts off is asked again, and the same payment twice is one page.
 */
export class PaymentLoop {
  readonly #options: PaymentLoopOptions;
  readonly #inFlight = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #loop: WorkLoop;

  /** Starts at once. */
  constructor(options: PaymentLoopOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      store: options.store,
      log: options.log,
      queue: PAYMENT_QUEUE,
      mostInFlight: MAX_IN_FLIGHT,
      atShare: { bounds: options.deps.bounds, bound: 'workspace_payments' },
      leaseMs: options.config.timeoutMs + ASK_MARGIN_MS + LEASE_MARGIN_MS,
      freeSlots: (group) => MAX_IN_FLIGHT_PER_ACCOUNT - (this.#inFlight.get(group) ?? 0),
      run: async (jobs, done) =>
        void (await Promise.all(jobs.map((job) => this.#run(job).finally(() => done(job))))),
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

  async #run(job: Job): Promise<void> {
    const { id, group } = job;
    this.#count(group, 1);
    try {
      await this.#work(job);
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#options.log.error(
          { err: error, payment: id },
          'a payment could not be worked on or recorded',
        );
    } finally {
      this.#count(group, -1);
    }
  }

  async #work(job: Job): Promise<void> {
    const { deps, log } = this.#options;
    const begun = await this.#loop.record(() => beginAttempt(deps, job));
    if (!begun) return;
    const answer = await this.#ask(begun);
    const about = {
      payment: job.id,
      provider: begun.payment.provider,
      task: begun.payment.work.task,
      attempt: begun.payment.work.attempts,
      answer: answer.type,
    };
    if ('error' in answer)
      log.info(
        { ...about, reason: answer.error },
        'a payment provider did not do what it was asked',
      );
    else log.debug(about, 'a payment provider answered');
    await this.#loop.record(() => recordAnswer(deps, begun, answer));
  }

  /** @throws only when the service stops */
  async #ask({ payment, account }: BegunAttempt): Promise<CreateResult | CheckResult> {
    const { deps, config, log } = this.#options;
    const adapter = paymentAdapterOf(payment.provider);
    if (!adapter.isRemote) throw new Error(`${adapter.label} takes no money by itself`);
    const tooLate = AbortSignal.timeout(config.timeoutMs + ASK_MARGIN_MS);
    const signal = AbortSignal.any([this.#stopping.signal, tooLate]);
    try {
      return await adapter[payment.work.task](payment, openPaymentAccount(deps, account), {
        config,
        pageUrl: paymentPageUrl(deps, payment),
        signal,
      });
    } catch (error) {
      this.#stopping.signal.throwIfAborted();
      if (tooLate.aborted)
        return { type: 'unreachable', error: `${adapter.label} did not answer in time.` };
      log.error({ err: error, payment: payment.id }, 'a payment adapter failed');
      return {
        type: 'unreachable',
        error: `${adapter.label} could not be asked: the service has a fault, which its log names.`,
      };
    }
  }

  #count(group: string, by: 1 | -1): void {
    const now = (this.#inFlight.get(group) ?? 0) + by;
    if (now === 0) this.#inFlight.delete(group);
    else this.#inFlight.set(group, now);
  }
}
