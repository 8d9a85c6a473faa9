import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { signedInOf } from '../../team/index.ts';
import { readAssignment, readWaitingAlerts } from './readAlerts.ts';

/** What alerts.js asks for when it hears that there may be something to notify of. */
export function alertsRouter(deps: Deps): Router {
  const router = Router();
  router.get('/conversations/alerts', async (_request, response) => {
    response.json(await readWaitingAlerts(deps, signedInOf(response)));
  });
  router.get('/conversations/:id/assignment', async (request, response) => {
    response.json(await readAssignment(deps, signedInOf(response), request.params.id));
  });
  return router;
}
