import { type Request, type Response, Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { signedInOf } from '../../team/index.ts';
import { decideByForm } from '../../waits/screens/decideForm.ts';
import { countInWords } from '../counts.ts';
import { decideApproval } from '../actionsRouter.ts';
import { countWaiting, listWaiting, MAX_SHOWN, type WaitingItem } from './listWaiting.ts';
import { waitingFragment, waitingPage, type WaitingPage } from './waitingPage.ts';

/** The screen of all that waits for a decision, and its count for the navigation. */
export function waitingRouter(deps: Deps): Router {
  const router = Router();
  router.get('/waiting', async (request, response) =>
    sendPage(response, waitingPage(await read(deps, request, response))),
  );
  router.get('/waiting/fragment', async (request, response) =>
    sendPart(response, waitingFragment(await read(deps, request, response))),
  );
  router.get('/waiting/count', async (_request, response) => {
    const count = await countWaiting(deps, signedInOf(response).workspace);
    sendPart(response, countInWords(count, MAX_SHOWN));
  });
  router.get('/waiting/next', async (request, response) => {
    const { items } = await listWaiting(deps, signedInOf(response).workspace);
    const next = nextAfter(items, request.query.from);
    response.redirect(303, next === undefined ? '/waiting' : addressOf(next));
  });
  router.post('/waiting/waits/:id/decide', async (request, response) => {
    const { id } = request.params;
    const notice = await decideByForm(deps, request, response, id);
    // A question that has ended is no longer in the list. Its page says who decided.
    goBack(response, notice, notice === 'wait-ended' ? `/waits/${id}` : '/waiting');
  });
  router.post('/waiting/tool-calls/:id/decide', async (request, response) =>
    goBack(response, await decideApproval(deps, request, response, request.params.id)),
  );
  return router;
}

async function read(
  deps: Deps,
  { query }: Pick<Request, 'query'>,
  response: Response,
): Promise<WaitingPage> {
  const signedIn = signedInOf(response);
  const waiting = await listWaiting(deps, signedIn.workspace);
  return { signedIn, waiting, now: deps.clock.now(), notice: query.notice };
}

/**
 * The next item of another conversation: first behind those of `from`, then from the beginning of
 * the list. If there is no other conversation, the first item.
 */
function nextAfter(items: readonly WaitingItem[], from: unknown): WaitingItem | undefined {
  const at = items.findLastIndex(({ conversationId }) => conversationId === from) + 1;
  const inTurn = [...items.slice(at), ...items.slice(0, at)];
  return inTurn.find(({ conversationId }) => conversationId !== from) ?? items[0];
}

const addressOf = ({ id, conversationId }: WaitingItem) =>
  conversationId === null ? `/waits/${id}` : `/conversations/${conversationId}#${id}`;

const goBack = (response: Response, notice: string | undefined, path = '/waiting'): void =>
  response.redirect(303, notice === undefined ? path : `${path}?notice=${notice}`);
