// How much one bad subscriber slows the others, and whether a slow receiver gets all of a burst.
import { cpuSeconds, startService, type RunningService } from './children.ts';
import { scaled, type Effort } from './comparison.ts';
import {
  call,
  newCustomer,
  newCustomers,
  waitUntilRecorded,
  subscribe,
  write,
} from './customers.ts';
import { latencies, startReceivers, type Receivers, type Side } from './latency.ts';
import { nowMs } from './receivers.ts';
import { repeat } from './repeat.ts';
import { round, type PartResult } from './report.ts';
import type { Tls } from './sinkClient.ts';
import { median, quantile } from './statistics.ts';

const OTHERS = 24;
/** Messages that customers write to each service, in a second and in a round. */
const WRITES_A_SECOND = 10;
const MESSAGES = 128;
/** Events waiting for the bad subscriber when measuring begins. */
const WAITING = 10_000;
/**
 * How many events the bad subscriber answers before it hangs, so that many may be under way to it at
 * once.
 */
const ANSWERED_FIRST = 500;
const BURST = 1000;
const SLOW_MS = 100;

type SideName = 'without' | 'with';

/** What one round took. */
interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU seconds of the service in each second. */
  readonly cpu: number;
}

/**
 * Measures the subscriptions of a workspace with and without one more that hangs and has many events
 * waiting. Two services run side by side, so that whatever else the machine does slows both. Both
 * have the same messages stored.
 */
export async function measureFairness(tls: Tls, effort: Effort): Promise<PartResult> {
  const receivers = await startReceivers(tls);
  const waiting = scaled(WAITING, effort);
  const messages = scaled(MESSAGES, effort);
  const sides = [
    await startSide('without', tls, receivers, waiting),
    await startSide('with', tls, receivers, waiting),
  ];
  for (const { name, service } of sides)
    for (let i = 0; i < OTHERS; i += 1)
      await subscribe(service, 'message.received', `${receivers.origin}/ok/${name}/${i}`);
  await measureRound(sides, receivers, 30); // opens connections and lets limits rise

  const runs: Record<SideName, Times>[] = [];
  for (let i = 0; i < effort.rounds; i += 1)
    runs.push(await measureRound(sides, receivers, messages));
  for (const { service } of sides) await service.stop();
  await receivers.stop();
  const medianOf = (side: SideName, time: keyof Times) =>
    round(median(runs.map((run) => run[side][time])));
  return {
    ratios: [
      {
        name: `Event to ${OTHERS} subscriptions while another one hangs: p99, divided by that without it`,
        values: runs.map((run) => run.with.p99Ms / run.without.p99Ms),
        goal: { atMost: 2 },
        ours: `${medianOf('with', 'p99Ms')} ms`,
        beside: `${medianOf('without', 'p99Ms')} ms`,
      },
    ],
    figures: [
      {
        name: 'While another one hangs: p50; beside it, when none hangs',
        ours: `${medianOf('with', 'p50Ms')} ms`,
        beside: `${medianOf('without', 'p50Ms')} ms`,
      },
      {
        name: 'While another one hangs: CPU seconds a second; beside it, when none hangs',
        ours: medianOf('with', 'cpu'),
        beside: medianOf('without', 'cpu'),
      },
    ],
    settings: [
      `Fairness: from a customer's message until its event is at each of ${OTHERS} receivers, ${messages} messages to each service a round, ${WRITES_A_SECOND} a second, ${effort.rounds} rounds; ` +
        `one more subscription has ${waiting} events waiting and a receiver that never answers (time-out 10 s). Beside it: the same service where that receiver answers.`,
    ],
  };
}

async function startSide(
  name: SideName,
  { caFile }: Tls,
  { origin }: Receivers,
  waiting: number,
): Promise<Side<SideName>> {
  const service = await startService(caFile);
  const customers = await newCustomers(service);
  const answered = name === 'with' ? ANSWERED_FIRST : Infinity;
  const hook = await subscribe(service, 'message.sent', `${origin}/hangs-after/${answered}`);
  await sendMany(service, await write(service, customers[0]!), waiting + ANSWERED_FIRST);
  if (name === 'without') await waitUntilRecorded(service, [hook]);
  return { name, service, customers };
}

async function measureRound(
  sides: readonly Side<SideName>[],
  receivers: Receivers,
  messages: number,
): Promise<Record<SideName, Times>> {
  const cpuBefore = sides.map(({ service }) => cpuSeconds(service.pid));
  const startedAt = nowMs();
  const pace = { messages, aSecond: WRITES_A_SECOND, receiversEach: OTHERS };
  const latenciesMs = await latencies(sides, receivers, pace);
  const seconds = (nowMs() - startedAt) / 1000;
  const times = sides.map(({ name, service }, i) => [
    name,
    {
      p50Ms: quantile(latenciesMs[name], 0.5),
      p99Ms: quantile(latenciesMs[name], 0.99),
      cpu: (cpuSeconds(service.pid) - cpuBefore[i]!) / seconds,
    },
  ]);
  return Object.fromEntries(times) as Record<SideName, Times>;
}

/**
 * Sends many events at once to a receiver that handles one after the other, ten a second. The time-out
 * is the default of 10 s.
 */
export async function measureBurst(tls: Tls, effort: Effort): Promise<PartResult> {
  const receivers = await startReceivers(tls);
  const service = await startService(tls.caFile);
  const events = effort.share === 1 ? BURST : BURST / 10;
  const conversation = await write(service, await newCustomer(service));
  const hook = await subscribe(service, 'message.sent', `${receivers.origin}/slow/${SLOW_MS}`);
  const startedAt = nowMs();
  await sendMany(service, conversation, events);
  await waitUntilRecorded(service, [hook], 3 * events * SLOW_MS + 60_000);
  const seconds = (nowMs() - startedAt) / 1000;
  const { slowEvents, slowGivenUp } = await receivers.report();
  await service.stop();
  await receivers.stop();
  const arrived = new Set(slowEvents).size;
  return {
    ratios: [
      {
        name: `Burst of ${events} events at a receiver that handles ${1000 / SLOW_MS} a second: share that arrived without a time-out`,
        values: [(arrived - slowGivenUp) / events],
        goal: { atLeast: 1 },
        ours: `${arrived} of ${events}, ${slowGivenUp} time-outs`,
        beside: '',
      },
    ],
    figures: [
      {
        name: 'Burst: seconds until all were handled, beside the least possible',
        ours: round(seconds),
        beside: round((events * SLOW_MS) / 1000),
      },
      {
        name: 'Burst: events that arrived twice',
        ours: String(slowEvents.length - arrived),
        beside: '',
      },
    ],
    settings: [
      `Burst: the receiver handles one request after the other, ${SLOW_MS} ms each; the time-out is the default of 10 s.`,
    ],
  };
}

/** The team's messages: they emit `message.sent`, the customers' emit `message.received`. */
const sendMany = (service: RunningService, conversation: string, count: number) =>
  repeat(count, () =>
    call(service, 'POST', `/api/conversations/${conversation}/messages`, { text: 'An answer.' }),
  );
