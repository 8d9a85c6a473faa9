// From a customer's message to its event at the receiver, at a low rate: one API process and one
// worker on PostgreSQL, beside the embedded store.
import { startService, type RunningService } from './children.ts';
import { dividedBy, scaled, type Effort } from './comparison.ts';
import { newCustomers, subscribe } from './customers.ts';
import { latencies, startReceivers, type Side } from './latency.ts';
import { startOnServer, type BenchServer } from './postgresServer.ts';
import { round, spread, type PartResult } from './report.ts';
import type { Tls } from './sinkClient.ts';
import { median, quantile } from './statistics.ts';

/** To each side. */
const MESSAGES_A_SECOND = 5;
const MESSAGES = 64;
const SCHEMA = 'bench_latency';
/** Whatever takes longer was not notified of, but found by polling. */
const AT_ONCE_MS = 250;

export async function measureLatency(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
): Promise<PartResult> {
  const receivers = await startReceivers(tls);
  const startSide = async <Name extends string>(
    name: Name,
    service: RunningService,
  ): Promise<Side<Name>> => {
    await subscribe(service, 'message.received', `${receivers.origin}/ok/${name}/0`);
    return { name, service, customers: await newCustomers(service, 4) };
  };
  const api = await startOnServer(server, SCHEMA, 'api', tls.caFile);
  const worker = await startOnServer(server, SCHEMA, 'worker', tls.caFile);
  const alone = await startService(tls.caFile);
  const sides = [await startSide('embedded', alone), await startSide('postgres', api)];
  const measure = (messages: number) =>
    latencies(sides, receivers, { messages, aSecond: MESSAGES_A_SECOND });
  await measure(10); // opens connections
  const runs: Awaited<ReturnType<typeof measure>>[] = [];
  for (let i = 0; i < effort.rounds; i += 1) runs.push(await measure(scaled(MESSAGES, effort)));
  for (const running of [api, worker, alone, receivers]) await running.stop();

  const quantiles = (p: number, side: 'postgres' | 'embedded') =>
    runs.map((run) => quantile(run[side], p));
  const [ours, theirs] = [quantiles(0.5, 'postgres'), quantiles(0.5, 'embedded')];
  const texts = { ours: `${round(median(ours))} ms`, beside: `${round(median(theirs))} ms` };
  const name = 'Message to its event at the receiver';
  return {
    ratios: [
      {
        name: `${name}, median, to ${AT_ONCE_MS} ms`,
        values: ours.map((ms) => ms / AT_ONCE_MS),
        goal: { atMost: 1 },
        ...texts,
      },
      {
        name: `${name}, median, to the embedded store`,
        values: dividedBy(ours, theirs),
        goal: null,
        ...texts,
      },
    ],
    figures: [
      {
        name: `${name}, p99, ms, beside the embedded store`,
        ours: spread(quantiles(0.99, 'postgres')),
        beside: spread(quantiles(0.99, 'embedded')),
      },
    ],
    settings: [
      `Latency: ${MESSAGES_A_SECOND} messages a second to each side in turn, ${effort.rounds} rounds; one API process takes them, one worker delivers. Work is told of by NOTIFY: a worker that had to look for it would take up to two seconds.`,
    ],
  };
}
