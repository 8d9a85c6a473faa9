import { Router } from 'express';
import { LONG_STALL_MS, STALLS_SHOWN_MINUTES } from '../../platform/metrics/stallWatch.ts';

export interface Health {
  /** Why the store cannot write; null when it can. */
  storeFault(): string | null;
  /** What the store refuses although it can write, and what to do; null when nothing. */
  storeWarning(): string | null;
  /** Milliseconds since the last round of the delivery loop. */
  sinceLastTurnMs(): number;
  /** The longest time that the event loop was blocked within the last five minutes. */
  longestStallMs(): number;
}

const LOOP_STUCK_AFTER_MS = 30_000;
const RETRY_AFTER_SECONDS = '2';

/**
 * `/healthz` answers while the process runs. `/readyz` answers 200 while the process can write, sends
 * deliveries and is not stopping.
 *
 * `warnings` name past stalls and what the service refuses for now. The process is still ready then.
 * Otherwise no requests would reach it, so nobody could make room or use what still works.
 * @param stopping aborted when a stop has begun, so that a load balancer sends no more requests
 */
export function healthRouter(health: Health, stopping: AbortSignal): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => void response.json({ status: 'alive' }));
  router.get('/readyz', (_request, response) => {
    const problems = problemsOf(health, stopping);
    const notices = noticesOf(health);
    if (problems.length === 0) return void response.json({ status: 'ready', ...notices });
    response
      .status(503)
      .set('Retry-After', RETRY_AFTER_SECONDS)
      .json({ status: 'not_ready', problems, ...notices });
  });
  return router;
}

/** Why the process is not ready; empty when it is. */
function problemsOf({ storeFault, sinceLastTurnMs }: Health, stopping: AbortSignal): string[] {
  const problems = [];
  if (stopping.aborted) problems.push('The service is stopping.');
  const fault = storeFault();
  if (fault !== null) problems.push(`The store cannot write: ${fault}`);
  const idleMs = sinceLastTurnMs();
  if (idleMs >= LOOP_STUCK_AFTER_MS)
    problems.push(
      `The delivery loop has not run for ${Math.floor(idleMs / 1000)} seconds, so nothing is sent. Restart the service; pending deliveries are kept.`,
    );
  return problems;
}

/** What an operator should know although the process is ready. */
function noticesOf({ longestStallMs, storeWarning }: Health): {
  longest_stall_ms: number;
  warnings?: string[];
} {
  const longest = longestStallMs();
  const warnings = [stallInWords(longest), storeWarning()].filter((warning) => warning !== null);
  return { longest_stall_ms: longest, ...(warnings.length > 0 && { warnings }) };
}

/** Null for a stall that nobody notices. */
function stallInWords(longestMs: number): string | null {
  if (longestMs < LONG_STALL_MS) return null;
  const seconds = (longestMs / 1000).toFixed(1);
  return (
    `The process stood still for ${seconds} seconds within the last ${STALLS_SHOWN_MINUTES} minutes and answered no request in that time. If it happens again, give it more CPU, ` +
    'and look in the log for "the event loop stood still" and for what came right before it. "Bounds" in docs/operations.md lists possible causes.'
  );
}
