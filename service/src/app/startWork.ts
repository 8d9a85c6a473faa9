import { startAgent } from '../agent/agentLoop.ts';
import type { AgentModel } from '../agent/agentModel.ts';
import { startTurnRunner } from '../agent/webhook/turnRunner.ts';
import { startSender } from '../channels/outbound/sender.ts';
import { startTyping } from '../channels/outbound/typing.ts';
import type { Config } from './config.ts';
import { Dispatcher, logOverdue } from '../deliveries/sending/dispatcher.ts';
import { startFollowUps } from '../deliveries/followUps.ts';
import { startForgetting } from './retention/forgetContacts.ts';
import { type Retention, startHousekeeping } from './retention/housekeeping.ts';
import { RoomMaker } from './retention/roomMaker.ts';
import type { OutboundClient } from '../platform/outbound/outboundClient.ts';
import { startFolding } from '../overview/foldWorker.ts';
import { startPayments } from '../payments/paymentLoop.ts';
import { startWaits } from '../waits/waitWorker.ts';
import { startToolRunner } from '../tools/calls/toolRunner.ts';
import { openMonotonicClock } from '../platform/jobs/monotonicClock.ts';
import type { Work } from '../platform/jobs/worker.ts';
import type { ServiceMetrics } from './serviceMetrics.ts';
import type { StopTogether } from '../platform/jobs/stopTogether.ts';

interface WorkOptions extends Work {
  readonly outbound: OutboundClient;
  readonly config: Config;
  readonly model: AgentModel;
  readonly metrics: Pick<ServiceMetrics, 'deliveries' | 'waits' | 'turns'>;
  readonly retention: Retention;
  /** Between two clean-ups. */
  readonly housekeepingEveryMs: number | undefined;
  /** Whether a visitor has the chat open. */
  readonly isConnected: (contactId: string) => boolean;
}

export interface StartedWork {
  /** Milliseconds since the delivery loop last looked for work. */
  sinceLastTurnMs(): number;
}

/**
 * Starts the workers of all queues. Processes that only answer requests do not call it.
 */
export async function startWork(work: WorkOptions, parts: StopTogether): Promise<StartedWork> {
  const { deps, outbound, log, config, metrics } = work;
  const { store, clock } = deps;
  await logOverdue(store, log);
  const dispatcher = parts.add(
    'deliveries',
    new Dispatcher({
      deps,
      outbound,
      log,
      timeoutMs: config.deliveryTimeoutMs,
      retryDelaysMs: config.deliveryRetryDelaysMs,
      observer: metrics.deliveries,
    }),
  );
  parts.add('removed subscriptions', startFollowUps({ deps, log }));
  parts.add(
    'tool calls',
    startToolRunner({ deps, outbound, log, retryDelaysMs: config.toolRetryDelaysMs }),
  );
  parts.add(
    'channels',
    startSender({
      deps,
      log,
      config: config.channels,
      retryDelaysMs: config.channelRetryDelaysMs,
    }),
  );
  parts.add('typing', startTyping({ deps, log, config: config.channels }));
  parts.add('payments', startPayments({ deps, log, config: config.payments }));
  parts.add('waits', startWaits({ deps, outbound, log, observer: metrics.waits }));
  parts.add('agent', startAgent({ deps, model: work.model, log, timeoutMs: config.llmTimeoutMs }));
  parts.add(
    'turns of workflows',
    startTurnRunner({ deps, outbound, log, observer: metrics.turns }),
  );
  parts.add('counters', startFolding(store, log));
  parts.add('forgotten contacts', startForgetting({ deps, log }));
  const ageClock = await openMonotonicClock({ clock, store, log });
  const { retention, housekeepingEveryMs: everyMs } = work;
  parts.add('clean-up', await startHousekeeping({ deps, ageClock, retention, log, everyMs }));
  if (store.pressure !== null)
    parts.add(
      'room',
      new RoomMaker({ store, clock: ageClock, log, isConnected: work.isConnected }),
    );
  return { sinceLastTurnMs: () => dispatcher.sinceLastTurnMs };
}
