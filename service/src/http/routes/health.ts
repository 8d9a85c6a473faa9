import { Router } from 'express';

export interface Health {
  /** Null when the store can write, else why not. */
  storeFault(): string | null;
  /** Milliseconds since the delivery loop last turned. */
  sinceLastTurnMs(): number;
}

const LOOP_STUCK_AFTER_MS = 30_000;

/** `/healthz`: the process answers. `/readyz`: it can write, and deliveries go out. */
export function healthRouter(health: Health): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => void response.json({ status: 'alive' }));
  router.get('/readyz', (_request, response) => {
    const problems = [
      ...(health.storeFault() === null ? [] : [`The store cannot write: ${health.storeFault()}`]),
      ...(health.sinceLastTurnMs() < LOOP_STUCK_AFTER_MS ? [] : ['The delivery loop has not turned for 30 seconds.']),
    ];
    if (problems.length === 0) response.json({ status: 'ready' });
    else response.status(503).set('Retry-After', '2').json({ status: 'not_ready', problems });
  });
  return router;
}
