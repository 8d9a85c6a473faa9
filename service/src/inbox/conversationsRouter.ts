import { type Request, type Response, Router } from 'express';
import { type Deps, inOneTransaction } from '../platform/deps.ts';
import { listInbox } from './listInbox.ts';
import { readThread } from './readThread.ts';
import { paymentPageUrl, type FollowPayment } from '../payments/index.ts';
import { sendPage, sendPart, type View } from '../platform/html/html.ts';
import { signedInOf } from '../team/index.ts';
import { actionsRouter } from './actionsRouter.ts';
import { composerNote } from './composerView.ts';
import { conversationsPage, headFragment } from './pageView.ts';
import { itemsFragment } from './itemsView.ts';
import { listFragment } from './listView.ts';
import { paymentRouter } from './paymentRouter.ts';
import { beforeOf, placeOf } from './links.ts';
import type { ShowThread, ThreadParts } from './threadParts.ts';

/** The team's conversations: the list, a thread, and the parts that load again by themselves. */
export function conversationsRouter(deps: Deps, followPayment: FollowPayment): Router {
  const router = Router();
  addList(router, deps);
  const showThread = threadPage(deps);
  router.get('/conversations/:id', (request, response) => showThread(request, response));
  router.get('/conversations/:id/close', (request, response) =>
    showThread(request, response, { isClosing: true }),
  );
  addFragment(router, deps, 'head', headFragment);
  addFragment(router, deps, 'items', itemsFragment);
  addFragment(router, deps, 'composer-note', composerNote);
  router.use(actionsRouter(deps, showThread), paymentRouter(deps, showThread, followPayment));
  return router;
}

function addList(router: Router, deps: Deps): void {
  router.get('/conversations', async (request, response) => {
    const { signedIn, ...shared } = sharedParts(deps, request, response);
    const inbox = await listInbox(deps, signedIn.member, shared.place);
    const { notice } = request.query;
    const page = { signedIn, inbox, thread: null, openId: null, notice, ...shared };
    sendPage(response, conversationsPage(page));
  });

  router.get('/conversations/list', async (request, response) => {
    const { signedIn, place, now } = sharedParts(deps, request, response);
    const inbox = await listInbox(deps, signedIn.member, place);
    const openId = typeof request.query.open === 'string' ? request.query.open : null;
    sendPart(response, listFragment({ inbox, place, openId, now }));
  });
}

const threadPage =
  (deps: Deps): ShowThread =>
  async (request, response, open = {}) => {
    const { signedIn, ...shared } = sharedParts(deps, request, response);
    const { id } = request.params;
    const before = beforeOf(request);
    const { thread, inbox } = await inOneTransaction(deps, async (within) => ({
      thread: await readThread(within, signedIn, id, { before }),
      inbox: await listInbox(within, signedIn.member, shared.place),
    }));
    const { notice } = request.query;
    const page = { signedIn, inbox, thread, before, openId: id, notice, ...shared, ...open };
    sendPage(response, conversationsPage(page));
  };

function addFragment(
  router: Router,
  deps: Deps,
  name: string,
  view: (parts: ThreadParts) => View,
): void {
  router.get(
    `/conversations/:id/${name}`,
    async (request: Request<{ id: string }>, response: Response) => {
      const shared = sharedParts(deps, request, response);
      const shown = {
        before: beforeOf(request),
        isSeen: request.get('x-page-hidden') === undefined,
      };
      const thread = await readThread(deps, shared.signedIn, request.params.id, shown);
      sendPart(response, view({ thread, ...shared }));
    },
  );
}

const sharedParts = (
  deps: Deps,
  request: Pick<Request, 'query'>,
  response: Response,
): Omit<ThreadParts, 'thread'> => ({
  signedIn: signedInOf(response),
  place: placeOf(request),
  now: deps.clock.now(),
  pageUrl: (payment) => paymentPageUrl(deps, payment),
});
