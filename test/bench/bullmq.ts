// Our deliveries beside a BullMQ queue on Redis with a fetch worker, at the same receiver.
import { startHelper, type Helper } from './children.ts';
import {
  comparison,
  figuresOf,
  ratiosOf,
  type Comparison,
  type Effort,
  type Run,
} from './comparison.ts';
import { CONCURRENCY, pathsOf, startDeliveryRig, SUBSCRIPTIONS } from './deliveries.ts';
import { JOB_OPTIONS, TIMEOUT_MS, type BullmqQuestion } from './bullmqWorker.ts';
import { ensureRedis, redisSettings, startRedis, type Appendfsync, type Redis } from './redis.ts';
import type { PartResult } from './report.ts';
import { emptyBacklog, lastRequest, type Sink, type Tls } from './sinkClient.ts';

const NAME = 'BullMQ + Redis + fetch';

interface Setup {
  readonly redis: Redis;
  readonly worker: Helper;
  readonly measured: Comparison;
}

export async function measureBullmq(tls: Tls, effort: Effort): Promise<PartResult> {
  const missing = ensureRedis();
  if (missing !== null) throw new Error(missing);
  const rig = await startDeliveryRig(tls, effort, SUBSCRIPTIONS);
  const setups = [await setUp(tls, 'always'), await setUp(tls, 'everysec')];
  await rig.ours();
  for (const setup of setups) await theirRun(rig.sink, setup, rig.count);
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const setup of setups) {
      setup.measured.ours.push(await rig.ours());
      setup.measured.theirs.push(await theirRun(rig.sink, setup, rig.count));
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
    measured: comparison('Signed deliveries', `${NAME} (appendfsync ${appendfsync})`, {
      aSecond: { atLeast: 1 },
    }),
  };
}

const ask = <Answer = null>(worker: Helper, question: BullmqQuestion) =>
  worker.ask<Answer>(question);

/**
 * Sends the body of the last delivery as often as ours did. As with ours, when the measured time
 * begins, connections are open and the receiver holds as many requests as there can be.
 */
async function theirRun(sink: Sink, { redis, worker }: Setup, count: number): Promise<Run> {
  const { headers, body } = await lastRequest(sink);
  const urls = pathsOf(SUBSCRIPTIONS).map((path) => sink.origin + path);
  await ask(worker, { do: 'queue', count, urls, event: headers['x-service-event']!, body });
  await sink.ask({ do: 'begin', status: 200, hold: true });
  await ask(worker, { do: 'release' });
  await sink.ask({ do: 'await', count: CONCURRENCY });
  const run = await emptyBacklog(sink, count, [worker.pid, redis.pid]);
  const failed = await ask<number>(worker, { do: 'finish' });
  if (failed > 0) throw new Error(`${failed} jobs of BullMQ failed`);
  return run;
}
