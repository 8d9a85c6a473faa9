import type { Logger } from 'pino';
import { startAgent } from '../agent/agentLoop.ts';
import type { AgentModel } from '../agent/agentModel.ts';
import { startTurnRunner, type TurnObserver } from '../agent/webhook/turnRunner.ts';
import { startSender } from '../channels/outbound/sender.ts';
import { startTyping } from '../channels/outbound/typing.ts';
import type { Config } from './config.ts';
import { type DeliveryObserver, Dispatcher, logOverdue } from '../deliveries/sending/dispatcher.ts';
import { startFollowUps } from '../deliveries/followUps.ts';
import type { SteadyClock } from '../platform/clock.ts';
import type { ServiceStore } from '../store/collections.ts';
import type { Deps } from '../platform/deps.ts';
import { startForgetting } from './retention/forgetContacts.ts';
import { type Retention, startHousekeeping } from './retention/housekeeping.ts';
import { RoomMaker } from './retention/roomMaker.ts';
import type { OutboundClient } from '../platform/outbound/outboundClient.ts';
import { startFolding } from '../overview/foldWorker.ts';
import { startPayments } from '../payments/paymentLoop.ts';
import { startWaits } from '../waits/waitWorker.ts';
import type { WaitObserver } from '../waits/waitMetrics.ts';
import { startToolRunner } from '../tools/calls/toolRunner.ts';
import { openMonotonicClock } from '../platform/jobs/monotonicClock.ts';
import type { StopTogether } from '../platform/jobs/stopTogether.ts';

interface WorkParts {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly outbound: OutboundClient;
  readonly log: Logger;
  readonly config: Config;
  readonly clock: SteadyClock;
  readonly model: AgentModel;
  readonly observer: DeliveryObserver;
  readonly waitObserver: WaitObserver;
  readonly turnObserver: TurnObserver;
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
export async function startWork(work: WorkParts, parts: StopTogether): Promise<StartedWork> {
  const { store, deps, outbound, log, config, clock } = work;
  await logOverdue(store, log);
  const dispatcher = parts.add(
    'deliveries',
    new Dispatcher({
      store,
      deps,
      outbound,
      log,
      timeoutMs: config.deliveryTimeoutMs,
      retryDelaysMs: config.deliveryRetryDelaysMs,
      observer: work.observer,
    }),
  );
  parts.add('removed subscriptions', startFollowUps({ store, deps, log }));
  parts.add(
    'tool calls',
    startToolRunner({ store, deps, outbound, log, clock, retryDelaysMs: config.toolRetryDelaysMs }),
  );
  parts.add(
    'channels',
    startSender({
      store,
      deps,
      log,
      clock,
      config: config.channels,
      retryDelaysMs: config.channelRetryDelaysMs,
    }),
  );
  parts.add('typing', startTyping({ store, deps, log, config: config.channels }));
  parts.add('payments', startPayments({ store, deps, log, config: config.payments }));
  parts.add('waits', startWaits({ store, deps, outbound, log, observer: work.waitObserver }));
  parts.add(
    'agent',
    startAgent({ store, deps, model: work.model, log, timeoutMs: config.llmTimeoutMs }),
  );
  parts.add(
    'turns of workflows',
    startTurnRunner({ store, deps, outbound, log, clock, observer: work.turnObserver }),
  );
  parts.add('counters', startFolding(store, log));
  parts.add('forgotten contacts', startForgetting({ store, clock, log }));
  const ageClock = await openMonotonicClock({ clock, store, log });
  parts.add(
    'clean-up',
    await startHousekeeping({
      store,
      clock,
      ageClock,
      retention: work.retention,
      log,
      everyMs: work.housekeepingEveryMs,
    }),
  );
  if (store.pressure !== null)
    parts.add(
      'room',
      new RoomMaker({ store, clock: ageClock, log, isConnected: work.isConnected }),
    );
  return { sinceLastTurnMs: () => dispatcher.sinceLastTurnMs };
}
