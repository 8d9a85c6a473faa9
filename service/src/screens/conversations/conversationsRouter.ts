import { Router, type Request, type Response } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { inOneTransaction } from '../../domain/inOneTransaction.ts';
import { listInbox } from '../../domain/operations/listInbox.ts';
import { readThread } from '../../domain/operations/readThread.ts';
import { paymentPageUrl, type PaymentPageUrl } from '../../domain/webhookAddress.ts';
import type { FollowPayment } from '../../http/paymentFeed.ts';
import type { FormState } from '../forms.ts';
import { sendPage, sendPart, type View } from '../html.ts';
import { signedInOf } from '../session.ts';
import { actionsRouter } from './actionsRouter.ts';
import { composerNote } from './composerView.ts';
import { headFragment } from './headView.ts';
import { itemsFragment, type ThreadParts } from './itemsView.ts';
import { listFragment } from './listView.ts';
import { conversationsPage } from './pageView.ts';
import type { PaymentForm } from './paymentForm.ts';
import { paymentRouter } from './paymentRouter.ts';
import { beforeOf, placeOf } from './place.ts';

export type ShowThread = (
  request: Request<{ id: string }>,
  response: Response,
  extras?: { isClosing?: boolean; paying?: PaymentForm; form?: FormState },
) => Promise<void>;

/** The team's conversations: the list, a thread, and the parts that load again by themselves. */
export function conversationsRouter(deps: Deps, followPayment: FollowPayment): Router {
  const router = Router();
  const pageUrl: PaymentPageUrl = (payment) => paymentPageUrl(deps, payment);

  router.get('/conversations', async (request, response) => {
    const signedIn = signedInOf(response);
    const place = placeOf(request);
    const inbox = await listInbox(deps, signedIn.member, place);
    sendPage(
      response,
      conversationsPage({
        signedIn,
        inbox,
        place,
        thread: null,
        openId: null,
        now: deps.clock.now(),
        pageUrl,
        notice: request.query.notice,
      }),
    );
  });

  router.get('/conversations/list', async (request, response) => {
    const place = placeOf(request);
    const inbox = await listInbox(deps, signedInOf(response).member, place);
    const openId = typeof request.query.open === 'string' ? request.query.open : null;
    sendPart(response, listFragment({ inbox, place, openId, now: deps.clock.now() }));
  });

  const showThread: ShowThread = async (request, response, extras = {}) => {
    const signedIn = signedInOf(response);
    const [place, before] = [placeOf(request), beforeOf(request)];
    const { thread, inbox } = await inOneTransaction(deps, async (within) => ({
      thread: await readThread(within, signedIn, request.params.id, { before }),
      inbox: await listInbox(within, signedIn.member, place),
    }));
    const { notice } = request.query;
    sendPage(
      response,
      conversationsPage({
        signedIn,
        inbox,
        place,
        thread,
        before,
        openId: request.params.id,
        now: deps.clock.now(),
        pageUrl,
        notice,
        ...extras,
      }),
    );
  };

  router.get('/conversations/:id', (request, response) => showThread(request, response));
  router.get('/conversations/:id/close', (request, response) =>
    showThread(request, response, { isClosing: true }),
  );

  const fragment = (name: string, view: (parts: ThreadParts) => View) =>
    router.get(
      `/conversations/:id/${name}`,
      async (request: Request<{ id: string }>, response: Response) => {
        const signedIn = signedInOf(response);
        const isSeen = request.get('x-page-hidden') === undefined;
        const thread = await readThread(deps, signedIn, request.params.id, {
          before: beforeOf(request),
          isSeen,
        });
        sendPart(
          response,
          view({ signedIn, thread, place: placeOf(request), now: deps.clock.now(), pageUrl }),
        );
      },
    );
  fragment('head', headFragment);
  fragment('items', itemsFragment);
  fragment('composer-note', composerNote);

  router.use(actionsRouter(deps, showThread), paymentRouter(deps, showThread, followPayment));
  return router;
}
