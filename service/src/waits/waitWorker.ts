import {
  LEASE_MARGIN_MS,
  startWorker,
  type JobContext,
  type Work,
  type Worker,
} from '../platform/jobs/worker.ts';
import type { OutboundClient } from '../platform/outbound/outboundClient.ts';
import type { Job } from '../store/store.ts';
import { callResumeUrl, recordResume, RESUME_TIMEOUT_MS } from './resume.ts';
import { WAIT_QUEUE } from './wait.ts';
import type { WaitObserver } from './waitMetrics.ts';
import { doWaitWork } from './waitWork.ts';

interface WaitWorkerOptions extends Work {
  readonly outbound: Pick<OutboundClient, 'request'>;
  readonly observer: WaitObserver;
}

const MAX_PER_WORKSPACE = 64;
/** How many executions of one n8n are called at the same time. */
const MAX_PER_HOST = 16;

/**
 * Works on waits: judges answers, reminds customers and ends waits when their time is over. Calls the
 * address at which an execution goes on until the execution has collected the answer. Work that
 * a crash interrupted is done again.
 */
export const startWaits = (options: WaitWorkerOptions): Worker =>
  startWorker({
    ...options,
    queue: WAIT_QUEUE,
    maxPerWorkspace: MAX_PER_WORKSPACE,
    freeInGroup: (_host, underWay) => MAX_PER_HOST - underWay,
    bound: 'workspace_waits',
    leaseMs: RESUME_TIMEOUT_MS + LEASE_MARGIN_MS,
    run: (job, context) => workOnWait(options, job, context),
    onFailure: {
      message: 'a wait could not be worked on or recorded; it is claimed again',
      idField: 'wait',
    },
  });

async function workOnWait(
  { deps, outbound, log, observer }: WaitWorkerOptions,
  job: Job,
  { signal, retry }: JobContext,
): Promise<void> {
  const { resume, ended } = await retry(() => doWaitWork(deps, job));
  if (ended) observer.ended(ended);
  if (!resume) return;
  const attempt = await callResumeUrl(outbound, resume, signal);
  const recorded = await retry(() => recordResume(deps, resume, attempt));
  observer.attempted(attempt.status, recorded?.resume.state === 'done');
  log.info(
    {
      wait: job.id,
      host: resume.wait.resumeHost,
      status: attempt.status,
      collected: recorded?.resume.state === 'done',
      reason: recorded?.resume.problem ?? recorded?.resume.attempts.at(-1)?.problem ?? null,
    },
    'an execution was called to go on',
  );
}
