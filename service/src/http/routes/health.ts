import { Router } from 'express';
import { LONG_STALL_MS, STALLS_SHOWN_MINUTES } from '../../metrics/stallWatch.ts';

export interface Health {
  /** Null when the store can write, else why not. */
  storeFault(): string | null;
  /**
   * Null when the store takes everything, else what it refuses although it can write, and what to
   * do.
   */
  storeWarning(): string | null;
  /** Milliseconds since the delivery loop last turned. */
  sinceLastTurnMs(): number;
  /** How long the event loop stood still at a time, within the last five minutes. */
  longestStallMs(): number;
}

const LOOP_STUCK_AFTER_MS = 30_000;
const RETRY_AFTER_SECONDS = '2';

/**
 * `/healthz`: the process answers. `/readyz`: it can write, deliveries go out, and it is not about to end;
 * what it does not take meanwhile stands in `warnings`. With them it is ready all the same: a
 * balancer that sent nobody here would keep out the team that can make room, and what the service
 * is still there for. A long stall is over when this answers: it is told of, and a balancer takes
 * nobody out for it.
 * @param stopping a stop has begun: a balancer should send nobody here any more
 */
export function healthRouter(
  health: Health,
  stopping: AbortSignal,
  stuckAfterMs = LOOP_STUCK_AFTER_MS,
): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => void response.json({ status: 'alive' }));
  router.get('/readyz', (_request, response) => {
    const problems = problemsOf(health, stopping, stuckAfterMs);
    const told = noticesOf(health);
    if (problems.length === 0) return void response.json({ status: 'ready', ...told });
    response
      .status(503)
      .set('Retry-After', RETRY_AFTER_SECONDS)
      .json({ status: 'not_ready', problems, ...told });
  });
  return router;
}

/** What is wrong, in words; empty when nothing is. */
function problemsOf(
  { storeFault, sinceLastTurnMs }: Health,
  stopping: AbortSignal,
  stuckAfterMs: number,
): string[] {
  const problems = [];
  if (stopping.aborted) problems.push('The service is stopping.');
  const fault = storeFault();
  if (fault !== null) problems.push(`The store cannot write: ${fault}`);
  const idleMs = sinceLastTurnMs();
  if (idleMs >= stuckAfterMs)
    problems.push(
      `The delivery loop has not turned for ${Math.floor(idleMs / 1000)} seconds: nothing is sent. Restart the service; what is owed is kept.`,
    );
  return problems;
}

/** What is worth a look although the process is ready. */
function noticesOf({ longestStallMs, storeWarning }: Health): {
  longest_stall_ms: number;
  warnings?: string[];
} {
  const longest = longestStallMs();
  const warnings = [stallInWords(longest), storeWarning()].filter((warning) => warning !== null);
  return { longest_stall_ms: longest, ...(warnings.length > 0 && { warnings }) };
}

/** Null for one that is over before anybody notices. */
function stallInWords(longestMs: number): string | null {
  if (longestMs < LONG_STALL_MS) return null;
  const seconds = (longestMs / 1000).toFixed(1);
  return (
    `The process stood still for ${seconds} seconds at a time within the last ${STALLS_SHOWN_MINUTES} minutes and answered nobody. If it happens again, give it more processor, ` +
    'and look in the log for "the event loop stood still" and for what came right before; "Bounds" in docs/operations.md says what can be behind it.'
  );
}
