import { Router, type Request, type Response } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { signedInOf } from '../../team/index.ts';
import { getWait } from '../index.ts';
import { decideByForm } from './decideForm.ts';
import { waitFragment, waitPage, type WaitPage } from './waitPage.ts';

/** The page of one wait. Its decision can be made here too. */
export function waitScreensRouter(deps: Deps): Router {
  const router = Router();

  router.get('/waits/:id', async (request, response) =>
    sendPage(response, waitPage(await read(deps, request, response))),
  );

  router.get('/waits/:id/fragment', async (request, response) =>
    sendPart(response, waitFragment(await read(deps, request, response))),
  );

  router.post('/waits/:id/decide', async (request, response) => {
    const { id } = request.params;
    const notice = await decideByForm(deps, request, response, id);
    response.redirect(303, notice === undefined ? `/waits/${id}` : `/waits/${id}?notice=${notice}`);
  });

  return router;
}

async function read(
  deps: Deps,
  { params, query }: Request<{ id: string }>,
  response: Response,
): Promise<WaitPage> {
  const signedIn = signedInOf(response);
  const { wait } = await getWait(deps, signedIn.workspace, params.id);
  return { signedIn, wait, now: deps.clock.now(), notice: query.notice };
}
