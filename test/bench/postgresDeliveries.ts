// Signed deliveries of several worker processes that share a PostgreSQL server, beside the embedded
// store and a bare undici loop.
import { readMetrics } from '../helpers/metrics.ts';
import type { RunningService } from './children.ts';
import { ratiosOf, type Effort, type Run } from './comparison.ts';
import { waitUntilRecorded } from './customers.ts';
import { CONCURRENCY, queueBacklog, startDeliveryRig, subscribeAll } from './deliveries.ts';
import {
  costFigures,
  startOnServer,
  withCosts,
  type BenchServer,
  type CostlyRun,
} from './postgresServer.ts';
import { counted, type Figure, type PartResult } from './report.ts';
import { emptyBacklog, lastRequest, type Tls } from './sinkClient.ts';

/** One worker at a time serves each. */
const SUBSCRIPTIONS = 16;
const WORKERS = [1, 2, 4];
const SCHEMA = 'bench_deliveries';

interface ClusterRun extends CostlyRun {
  /** Which part of all each worker delivered, the busiest first. */
  readonly parts: readonly number[];
}

export async function measureDeliveries(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
  profiles?: string,
): Promise<PartResult> {
  const rig = await startDeliveryRig(tls, effort, SUBSCRIPTIONS);
  const { sink, count } = rig;
  const api = await startOnServer(server, SCHEMA, 'api', tls.caFile);
  const cluster = await subscribeAll(api, sink, SUBSCRIPTIONS);
  const workers: RunningService[] = [];
  const bare: Run[] = [];
  const embedded: Run[] = [];
  const runsOf = new Map<number, ClusterRun[]>(WORKERS.map((n) => [n, []]));

  const setWorkers = async (wanted: number) => {
    while (workers.length < wanted)
      workers.push(await startOnServer(server, SCHEMA, 'worker', tls.caFile, profiles));
    for (const worker of workers.splice(wanted)) await worker.stop();
  };
  const clusterRun = async (): Promise<ClusterRun> => {
    await queueBacklog(cluster, sink, count);
    const before = await Promise.all(workers.map(attemptsOf));
    await Promise.all(workers.map((worker) => worker.beginProfile()));
    const processes = { 'the workers': workers, 'the API process': [api] };
    const run = await withCosts(server, processes, count, () => emptyBacklog(sink, count, []));
    const what = `a delivery, ${workers.length} workers`;
    const share = Math.round(count / workers.length);
    await Promise.all(workers.map((worker) => worker.endProfile(what, share)));
    await waitUntilRecorded(api, cluster.hooks);
    const after = await Promise.all(workers.map(attemptsOf));
    const parts = after.map((attempts, i) => (attempts - before[i]!) / count);
    return { ...run, parts: parts.sort((a, b) => b - a) };
  };

  await rig.ours();
  await rig.bare();
  for (let round = 0; round < effort.rounds; round += 1) {
    bare.push(await rig.bare());
    embedded.push(await rig.ours());
    // Up in one round and down in the next, so that few workers are started again.
    for (const n of round % 2 === 0 ? WORKERS : WORKERS.toReversed()) {
      await setWorkers(n);
      runsOf.get(n)!.push(await clusterRun());
    }
  }
  const bodyBytes = Buffer.byteLength((await lastRequest(sink)).body);
  for (const service of [...workers, api, rig]) await service.stop();

  const name = (n: number) => `Deliveries by ${counted(n, 'worker')} on PostgreSQL`;
  return {
    ratios: [...runsOf].flatMap(([n, ours]) => [
      ...ratiosOf({
        name: name(n),
        other: 'the embedded store',
        goals: n === 1 ? { aSecond: { atLeast: 0.8 } } : {},
        ours,
        theirs: embedded,
      }),
      ...ratiosOf({
        name: name(n),
        other: n === 1 ? 'a bare undici loop' : '1 worker',
        // A delivery may cost 1.2 times as much.
        goals: n === 4 ? { byCpu: { atLeast: 0.83 } } : {},
        ours,
        theirs: n === 1 ? bare : runsOf.get(1)!,
      }),
    ]),
    figures: [...runsOf].flatMap(([n, runs]) => [
      ...costFigures(name(n), runs),
      ...(n === 1 ? [] : [partsFigure(name(n), runs)]),
    ]),
    settings: [
      `Deliveries: ${count} a run in ${effort.rounds} rounds, of ${SUBSCRIPTIONS} subscriptions, up to ${CONCURRENCY} at once by the bare loop, bodies of ${bodyBytes} bytes, counted at the receiver; the backlog is queued before, from a receiver that answered 400. ` +
        'One API process and the workers share one schema. CPU time on PostgreSQL is of all its processes, of all workers and of the API process (which follows what changes, for its live screens) together; with the embedded store it is of the one process.',
      `A subscription is served by one worker at a time, and the workers tell each other how many each has: ${SUBSCRIPTIONS} subscriptions can be shared out over four workers, a single one cannot be made faster by a second worker.`,
      'What two cores can show: receiver, workers, API process and PostgreSQL share them all, so that two or four workers cannot deliver more a second than one that keeps both cores busy already; ' +
        'a ratio to 1 worker near 1 says that a further worker costs nothing, no more. ' +
        'What would scale can be read from the CPU time instead: what a delivery takes of the workers is what further machines divide among them, what it takes of PostgreSQL stays where it is, and that bounds the sum: ' +
        'about one second of a core divided by PostgreSQL’s CPU time for a delivery, times the cores it has. That two machines reach the sum of both was not measured, for want of a second machine.',
    ],
  };
}

const partsFigure = (name: string, runs: readonly ClusterRun[]): Figure => ({
  name: `${name}: done by each worker, run by run`,
  ours: runs
    .map(({ parts }) => parts.map((part) => `${Math.round(100 * part)} %`).join(', '))
    .join('; '),
  beside: '',
});

/** How many attempts a process has made. */
async function attemptsOf({ url }: RunningService): Promise<number> {
  const metrics = await readMetrics(url);
  return metrics
    .values('conversation_service_delivery_attempts_total')
    .reduce((sum, value) => sum + value, 0);
}
