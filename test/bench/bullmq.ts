// Our deliveries beside a BullMQ queue on Redis with a fetch worker, at the same receiver.
import { cpuSeconds, startHelper, type Helper } from './children.ts';
import {
  comparison,
  figuresOf,
  ratiosOf,
  type Comparison,
  type Effort,
  type Run,
} from './comparison.ts';
import { CONCURRENCY, PATHS, startDeliveryRig } from './deliveries.ts';
import { JOB_OPTIONS, TIMEOUT_MS, type BullmqQuestion } from './bullmqWorker.ts';
import { ensureRedis, redisSettings, startRedis, type Appendfsync, type Redis } from './redis.ts';
import type { PartResult } from './report.ts';
import { atSink, headersOf, type Sink, type Tls } from './sinkClient.ts';

const NAME = 'BullMQ + Redis + fetch';
const GOAL = { atLeast: 1 };

interface Setup {
  readonly redis: Redis;
  readonly worker: Helper;
  readonly measured: Comparison;
}

export async function measureBullmq(tls: Tls, effort: Effort): Promise<PartResult> {
  const why = ensureRedis();
  if (why !== null)
    return {
      ratios: [],
      figures: [],
      settings: [],
      missing: [{ name: `Signed deliveries a second, to ${NAME}`, why }],
    };
  const rig = await startDeliveryRig(tls, effort);
  const setups = [await setUp(tls, 'always'), await setUp(tls, 'everysec')];
  await rig.ours();
  for (const setup of setups) await theirs(rig.sink, setup, rig.count);
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const setup of setups) {
      setup.measured.ours.push(await rig.ours());
      setup.measured.theirs.push(await theirs(rig.sink, setup, rig.count));
    }
  }
  for (const { redis, worker } of setups) {
    await worker.stop();
    await redis.stop();
  }
  await rig.stop();
  return {
    ratios: setups.flatMap(({ measured }) => ratiosOf(measured)),
    figures: setups.flatMap(({ measured }) => figuresOf(measured)),
    settings: [
      `${NAME}: one worker process, concurrency ${CONCURRENCY}, job options ${JSON.stringify(JOB_OPTIONS)}, time-out ${TIMEOUT_MS} ms, one HMAC-SHA256 signature of the same bodies; its CPU time is the worker's and Redis' together. ` +
        `${rig.count} jobs a run, queued before by the same process while the queue is paused; both sides empty their backlog into the same receiver. ` +
        `Redis with \`${redisSettings('always').slice(0, -1).join(' ')} ""\`, where a job is durable before Redis answers, as ours is; and with \`--appendfsync everysec\`, Redis' default for its append-only file, where a crash of the machine loses up to a second. ` +
        'It keeps no attempts, checks no address, and has no limit for each subscriber; ours does all of that.',
    ],
  };
}

async function setUp({ caFile }: Tls, appendfsync: Appendfsync): Promise<Setup> {
  const redis = await startRedis(appendfsync);
  const worker = startHelper('bullmqWorker.ts', [], { NODE_EXTRA_CA_CERTS: caFile });
  await ask(worker, { do: 'connect', port: redis.port, concurrency: CONCURRENCY });
  return {
    redis,
    worker,
    measured: comparison('Signed deliveries', `${NAME} (appendfsync ${appendfsync})`, GOAL),
  };
}

const ask = <Answer = null>(worker: Helper, question: BullmqQuestion) =>
  worker.ask<Answer>(question);

/**
 * The body of the last delivery that came, as often as ours sent it. As with ours, connections are
 * open and the receiver holds as many requests as there can be when what is measured begins.
 */
async function theirs(sink: Sink, { redis, worker }: Setup, count: number): Promise<Run> {
  const example = await sink.report();
  const urls = PATHS.map((path) => sink.origin + path);
  await ask(worker, {
    do: 'queue',
    count,
    urls,
    event: headersOf(example)['x-service-event']!,
    body: example.last!.body,
  });
  await sink.ask({ do: 'begin', status: 200, hold: true });
  await ask(worker, { do: 'release' });
  await sink.ask({ do: 'await', count: CONCURRENCY });
  const before = await sink.report();
  const cpu = () => cpuSeconds(worker.pid) + cpuSeconds(redis.pid);
  const cpuBefore = cpu();
  await sink.ask({ do: 'release' });
  await sink.ask({ do: 'await', count });
  const cpuUsed = cpu() - cpuBefore;
  const failed = await ask<number>(worker, { do: 'finish' });
  if (failed > 0) throw new Error(`${failed} jobs of BullMQ failed`);
  return atSink(before, await sink.report(), count, cpuUsed);
}
