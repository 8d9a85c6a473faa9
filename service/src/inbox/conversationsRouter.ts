import { type Request, type Response, Router } from 'express';
import { type Deps, inOneTransaction } from '../platform/deps.ts';
import { countWaitingConversations, findNextWaiting, listInbox, MAX_COUNTED } from './listInbox.ts';
import { readContactPanel } from './readContactPanel.ts';
import { readThread } from './readThread.ts';
import { paymentPageUrl, type FollowPayment } from '../payments/index.ts';
import { countInWords } from './counts.ts';
import { sendPage, sendPart, type View } from '../platform/html/html.ts';
import { listCannedReplies, signedInOf } from '../team/index.ts';
import { actionsRouter } from './actionsRouter.ts';
import { alertsRouter } from './alerts/alertsRouter.ts';
import { contactRouter } from './contact/contactRouter.ts';
import { panelFragment } from './contactPanel.ts';
import { composerNote } from './composerView.ts';
import { conversationsPage, headFragment } from './pageView.ts';
import { itemsFragment } from './itemsView.ts';
import { listFragment } from './listView.ts';
import { paymentRouter } from './paymentRouter.ts';
import { presenceRouter } from './presence/presenceRouter.ts';
import { NO_FILTER } from './filter.ts';
import { beforeOf, hrefAt, placeOf, threadHref } from './links.ts';
import type { SharedParts, ShowThread, ThreadParts } from './threadParts.ts';

/** The team's conversations: the list, a thread, and the parts that reload by themselves. */
export function conversationsRouter(deps: Deps, followPayment: FollowPayment): Router {
  const router = Router();
  addList(router, deps);
  router.use(alertsRouter(deps));
  const showThread = threadPage(deps);
  addPanel(router, deps);
  router.get('/conversations/:id', (request, response) => showThread(request, response));
  router.get('/conversations/:id/close', (request, response) =>
    showThread(request, response, { isClosing: true }),
  );
  addFragment(router, deps, 'head', headFragment);
  addFragment(router, deps, 'items', itemsFragment);
  addFragment(router, deps, 'composer-note', composerNote);
  router.use(presenceRouter(deps));
  router.use(contactRouter(deps));
  router.use(actionsRouter(deps, showThread), paymentRouter(deps, showThread, followPayment));
  return router;
}

function addList(router: Router, deps: Deps): void {
  router.get('/conversations', async (request, response) => {
    const shared = sharedParts(deps, request, response);
    const page = {
      ...shared,
      inbox: await listInbox(deps, shared.signedIn.member, shared.place),
      open: null,
      openId: null,
      notice: request.query.notice,
      isWhole: request.query.rows === 'all',
    };
    sendPage(response, conversationsPage(page));
  });

  router.get('/conversations/list', async (request, response) => {
    const shared = sharedParts(deps, request, response);
    const inbox = await listInbox(deps, shared.signedIn.member, shared.place);
    const openId = typeof request.query.open === 'string' ? request.query.open : null;
    sendPart(response, listFragment({ ...shared, inbox, openId }));
  });

  router.get('/conversations/count', async (_request, response) => {
    const count = await countWaitingConversations(deps, signedInOf(response).member);
    sendPart(response, countInWords(count, MAX_COUNTED));
  });

  router.get('/conversations/next-waiting', async (request, response) => {
    const id = await findNextWaiting(deps, signedInOf(response).member, request.query.from);
    const place = { tab: 'waiting', search: '', filter: NO_FILTER, after: null } as const;
    response.redirect(303, id === null ? hrefAt('/conversations', place) : threadHref(id, place));
  });
}

const threadPage =
  (deps: Deps): ShowThread =>
  async (request, response, form = {}) => {
    const shared = sharedParts(deps, request, response);
    const { signedIn, place, before } = shared;
    const { id } = request.params;
    const { inbox, cannedReplies, ...open } = await inOneTransaction(deps, async (within) => ({
      thread: await readThread(within, signedIn, id, { before }),
      panel: await readContactPanel(within, signedIn.workspace, id),
      inbox: await listInbox(within, signedIn.member, place),
      cannedReplies: await within.store.transaction((tx) =>
        listCannedReplies(tx, signedIn.workspace),
      ),
    }));
    const page = {
      ...shared,
      inbox,
      open,
      cannedReplies,
      openId: id,
      isWhole: false,
      notice: request.query.notice,
      ...form,
    };
    sendPage(response, conversationsPage(page));
  };

function addPanel(router: Router, deps: Deps): void {
  router.get('/conversations/:id/panel', async (request, response) => {
    const shared = sharedParts(deps, request, response);
    const { workspace } = shared.signedIn;
    const panel = await readContactPanel(deps, workspace, request.params.id);
    sendPart(response, panelFragment({ panel, ...shared }));
  });
}

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
        before: shared.before,
        // The other parts show no messages, and do not know which page of them is open.
        isSeen: name === 'items' && request.get('x-page-hidden') === undefined,
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
): SharedParts => ({
  signedIn: signedInOf(response),
  place: placeOf(request),
  before: beforeOf(request),
  now: deps.clock.now(),
  paymentPageUrl: (payment) => paymentPageUrl(deps, payment),
});
