import { PAYMENT_QUEUE, paymentPageUrl } from './payment.ts';
import type { Job } from '../store/store.ts';
import {
  LEASE_MARGIN_MS,
  startWorker,
  type JobContext,
  type Work,
  type Worker,
} from '../platform/jobs/worker.ts';
import { beginAttempt, recordAnswer, type BegunAttempt } from './paymentAttempts.ts';
import { openPaymentAccount } from './accounts.ts';
import type { CheckResult, CreateResult, PaymentsConfig } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

interface PaymentLoopOptions extends Work {
  readonly config: PaymentsConfig;
}

/** For all providers of a workspace together. */
const MAX_PER_WORKSPACE = 64;
const MAX_PER_ACCOUNT = 8;
/** How much longer than `timeoutMs`, which limits each request, a whole task may take. */
const ASK_MARGIN_MS = 10_000;

/**
 * Asks providers for payment pages and states, closes their pages, and ends payments that have
 * expired. Each attempt is recorded before the provider is asked, which happens outside of any
 * transaction. After a crash the provider is asked again, and the payment still has one page.
 */
export const startPayments = (options: PaymentLoopOptions): Worker =>
  startWorker({
    ...options,
    queue: PAYMENT_QUEUE,
    maxPerWorkspace: MAX_PER_WORKSPACE,
    freeInGroup: (_account, underWay) => MAX_PER_ACCOUNT - underWay,
    bound: 'workspace_payments',
    leaseMs: options.config.timeoutMs + ASK_MARGIN_MS + LEASE_MARGIN_MS,
    run: (job, context) => attemptTask(options, job, context),
    onFailure: {
      message: 'a payment could not be worked on or recorded; it is claimed again',
      idField: 'payment',
    },
  });

async function attemptTask(
  options: PaymentLoopOptions,
  job: Job,
  { signal, retry }: JobContext,
): Promise<void> {
  const { deps, log } = options;
  const begun = await retry(() => beginAttempt(deps, job));
  if (!begun) return;
  const answer = await ask(options, begun, signal);
  const logFields = {
    payment: job.id,
    provider: begun.payment.provider,
    task: begun.payment.work.task,
    attempt: begun.payment.work.attempts,
    answer: answer.type,
  };
  if ('error' in answer)
    log.info(
      { ...logFields, reason: answer.error },
      'a payment provider did not do what it was asked',
    );
  else log.debug(logFields, 'a payment provider answered');
  await retry(() => recordAnswer(deps, begun, answer));
}

/** @throws the signal's reason, at a stop */
async function ask(
  { deps, config, log }: PaymentLoopOptions,
  { payment, account }: BegunAttempt,
  stopped: AbortSignal,
): Promise<CreateResult | CheckResult> {
  const adapter = paymentAdapterOf(payment.provider);
  if (!adapter.isRemote) throw new Error(`${adapter.label} takes no money by itself`);
  const tooLate = AbortSignal.timeout(config.timeoutMs + ASK_MARGIN_MS);
  try {
    return await adapter[payment.work.task](payment, openPaymentAccount(deps, account), {
      config,
      pageUrl: paymentPageUrl(deps, payment),
      signal: AbortSignal.any([stopped, tooLate]),
    });
  } catch (error) {
    stopped.throwIfAborted();
    if (tooLate.aborted)
      return { type: 'unreachable', error: `${adapter.label} did not answer in time.` };
    log.error({ err: error, payment: payment.id }, 'a payment adapter failed');
    return {
      type: 'unreachable',
      error: `The service failed to ask ${adapter.label}. Its log has the details.`,
    };
  }
}
