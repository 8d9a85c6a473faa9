// What people would otherwise build: a BullMQ queue on Redis, and a worker that signs and sends by
// fetch.
import { createHmac } from 'node:crypto';
import { Queue, Worker, type Job } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerQuestions } from './children.ts';

export type BullmqQuestion =
  | { readonly do: 'connect'; readonly port: number; readonly concurrency: number }
  /** Queues jobs while the queue is paused; the urls are taken in turn. */
  | {
      readonly do: 'queue';
      readonly count: number;
      readonly urls: readonly string[];
      readonly event: string;
      readonly body: string;
    }
  | { readonly do: 'release' }
  /** Answered once no job is waiting or under way, with how many failed for good. */
  | { readonly do: 'finish' };

interface HookJob {
  readonly url: string;
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
}

/** As many attempts as the service makes, the first retry as soon, and the same time-out. */
export const JOB_OPTIONS = {
  attempts: 4,
  backoff: { type: 'exponential', delay: 5000 },
  removeOnComplete: true,
  removeOnFail: false,
} as const;
export const TIMEOUT_MS = 10_000;
const NAME = 'deliveries';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let queue: Queue<HookJob>;
let worker: Worker<HookJob>;

/** Signs and sends once. @throws Error when BullMQ is to try again */
async function send({ data: { url, event, eventId, body } }: Job<HookJob>): Promise<void> {
  const t = Math.floor(Date.now() / 1000);
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-event': event,
      'x-service-delivery': eventId,
      'x-service-signature': `t=${t},v1=${createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex')}`,
    },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`The receiver answered ${response.status}`);
}

async function connect(port: number, concurrency: number): Promise<void> {
  const connection = { host: '127.0.0.1', port };
  queue = new Queue(NAME, { connection });
  await queue.pause();
  worker = new Worker(NAME, send, {
    connection: { ...connection, maxRetriesPerRequest: null },
    concurrency,
  });
  worker.on('error', (error) => console.error(error));
  await worker.waitUntilReady();
}

async function add(
  count: number,
  urls: readonly string[],
  event: string,
  body: string,
): Promise<void> {
  await queue.pause();
  const jobs = Array.from({ length: count }, (_, i) => ({
    name: event,
    data: { url: urls[i % urls.length]!, event, eventId: `evt_${i}`, body },
    opts: JOB_OPTIONS,
  }));
  for (let i = 0; i < jobs.length; i += 1000) await queue.addBulk(jobs.slice(i, i + 1000));
}

async function finish(): Promise<number> {
  for (;;) {
    const {
      waiting = 0,
      active = 0,
      delayed = 0,
      failed = 0,
    } = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
    if (waiting + active + delayed === 0) return failed;
    await sleep(20);
  }
}

if (process.send !== undefined) {
  answerQuestions<BullmqQuestion>((question) => {
    if (question.do === 'connect') return connect(question.port, question.concurrency);
    if (question.do === 'queue')
      return add(question.count, question.urls, question.event, question.body);
    if (question.do === 'release') return queue.resume();
    return finish();
  });
}
