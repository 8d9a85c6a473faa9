import { openSetup } from '../../platform/accounts/accountSetup.ts';
import { OUTBOUND_QUEUE, type SendResult, type AttemptPolicy } from './outboundMessage.ts';
import type { Job } from '../../store/store.ts';
import { KeyedMutex } from '../../platform/async/semaphore.ts';
import {
  LEASE_MARGIN_MS,
  startWorker,
  type JobContext,
  type Work,
  type Worker,
} from '../../platform/jobs/worker.ts';
import type { ChannelsConfig } from '../channelAdapter.ts';
import { beginAttempt, recordAttempt, type BegunAttempt } from './attempts.ts';
import { connectedChannel } from '../registry.ts';

interface SenderOptions extends Work {
  readonly config: ChannelsConfig;
  readonly retryDelaysMs: readonly number[];
  /** How long to wait for a receipt before sending again a text that may have arrived. */
  readonly graceMs?: number;
}

/** Texts of one workspace under way at once, across all its accounts. */
const MAX_PER_WORKSPACE = 64;
const MAX_PER_ACCOUNT = 20;
/** A claimed text may first have to wait while the contact's previous text is being sent. */
const ATTEMPTS_PER_LEASE = 2;
/** Meta's receipts take a second or two; after a restart its webhook has to reach us again. */
const GRACE_MS = 15_000;

/**
 * Sends outbound messages, each contact's one after the other and in order, also across retries. An
 * attempt is on record before it is made. A text that a crash or a time-out interrupted may have
 * arrived: the sender waits for its receipt, and sends it again if none comes. A text may arrive
 * twice rather than never.
 */
export function startSender(options: SenderOptions): Worker {
  const { deps, log, config, retryDelaysMs, graceMs = GRACE_MS } = options;
  const policy: AttemptPolicy = { retryDelaysMs, graceMs };
  /**
   * One attempt per contact at a time. A receipt can make a contact's next text due before the
   * channel has answered the previous attempt.
   */
  const contacts = new KeyedMutex();

  const sendNext = async (job: Job, { lease, signal, retry }: JobContext): Promise<void> => {
    const begun = await retry(() =>
      beginAttempt(deps, job, policy, () => lease.covers(config.timeoutMs)),
    );
    if (!begun) return;
    const startedAt = performance.now();
    const result = await send(options, begun, signal);
    const durationMs = Math.round(performance.now() - startedAt);
    const recorded = await retry(() => recordAttempt(deps, begun.outbound, result, policy));
    const { id, messageId, part, attempts } = begun.outbound;
    const about = {
      outbound_message: id,
      message: messageId,
      part,
      attempt: attempts,
      channel: begun.channel.id,
      duration_ms: durationMs,
    };
    if (result.type === 'sent') log.debug(about, 'an outbound message was sent');
    else
      log.info(
        { ...about, reason: result.error, next_attempt_at: recorded?.nextAttemptAt ?? null },
        'an attempt to send an outbound message failed',
      );
  };

  return startWorker({
    deps,
    log,
    queue: OUTBOUND_QUEUE,
    maxPerWorkspace: MAX_PER_WORKSPACE,
    freeInGroup: (_account, underWay) => MAX_PER_ACCOUNT - underWay,
    bound: 'workspace_outbound_messages',
    leaseMs: ATTEMPTS_PER_LEASE * config.timeoutMs + LEASE_MARGIN_MS,
    run: (job, context) => contacts.run(job.id, () => sendNext(job, context)),
    onFailure: {
      message: 'an outbound message could not be sent or recorded; it is claimed again',
      idField: 'contact',
    },
  });
}

/** @throws the signal's reason, at a stop */
async function send(
  { deps, config, log }: SenderOptions,
  { outbound, contact, channel }: BegunAttempt,
  signal: AbortSignal,
): Promise<SendResult> {
  try {
    const account = { channel, values: openSetup(deps, channel) };
    const { id: outboundMessageId, text, choices } = outbound;
    const message = { outboundMessageId, text, choices, to: contact };
    return await connectedChannel(channel.type).send(message, account, { config, signal });
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
