import { Router } from 'express';

export interface Health {
  /** Null when the store can write, else why not. */
  storeFault(): string | null;
  /** Milliseconds since the delivery loop last turned. */
  sinceLastTurnMs(): number;
}

const LOOP_STUCK_AFTER_MS = 30_000;
const RETRY_AFTER_SECONDS = '2';

/**
 * `/healthz`: the process answers. `/readyz`: it can write, deliveries go out, and it is not about to end.
 * @param stopping a stop has begun: a balancer should send nobody here any more
 */
export function healthRouter(health: Health, stopping: AbortSignal, stuckAfterMs = LOOP_STUCK_AFTER_MS): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => void response.json({ status: 'alive' }));
  router.get('/readyz', (_request, response) => {
    const problems = problemsOf(health, stopping, stuckAfterMs);
    if (problems.length === 0) return void response.json({ status: 'ready' });
    response.status(503).set('Retry-After', RETRY_AFTER_SECONDS).json({ status: 'not_ready', problems });
  });
  return router;
}

/** What is wrong, in words; empty when nothing is. */
function problemsOf({ storeFault, sinceLastTurnMs }: Health, stopping: AbortSignal, stuckAfterMs: number): string[] {
  const problems = [];
  if (stopping.aborted) problems.push('The service is stopping.');
  const fault = storeFault();
  if (fault !== null) problems.push(`The store cannot write: ${fault}`);
  const idleMs = sinceLastTurnMs();
  if (idleMs >= stuckAfterMs) problems.push(`The delivery loop has not turned for ${Math.floor(idleMs / 1000)} seconds: nothing is sent. Restart the service; what is owed is kept.`);
  return problems;
}
