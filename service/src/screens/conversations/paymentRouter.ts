import { Router, type Request, type Response } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { AppError, notFound } from '../../domain/errorCatalogue.ts';
import {
  createPaymentLink,
  type WantedPayment,
} from '../../domain/operations/createPaymentLink.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { getPaymentLink, listPaymentLinks } from '../../domain/operations/paymentLinks.ts';
import { listPaymentAccounts } from '../../domain/operations/paymentAccounts.ts';
import { sendMessage } from '../../domain/operations/sendMessage.ts';
import type { Payment } from '../../domain/payment.ts';
import { paymentPageUrl } from '../../domain/webhookAddress.ts';
import type { Workspace } from '../../domain/workspace.ts';
import type { FollowPayment } from '../../http/paymentFeed.ts';
import { newFormToken } from '../../security/tokens.ts';
import { onceForForm } from '../formOnce.ts';
import { formValues, type FormValues } from '../forms.ts';
import { cancelLink, markLinkPaid } from '../payments/paymentActions.ts';
import { amountOf } from '../payments/paymentLabels.ts';
import { actorOf, signedInOf } from '../session.ts';
import type { ShowThread } from './conversationsRouter.ts';
import { newPaymentValues } from './paymentForm.ts';
import { refusedWanted, wantedFrom } from './paymentFormValues.ts';
import { placeOf, threadHref } from './place.ts';

type Post = Request<{ id: string; paymentId: string }>;

/** A browser waits so long for the provider's page before the link is shown as being prepared. */
const WAIT_MS = 8000;

/**
 * Payment links in a conversation: making one, sending it, and how it ends. @param showThread shows
 * the conversation with the form
 */
export function paymentRouter(
  deps: Deps,
  showThread: ShowThread,
  followPayment: FollowPayment,
): Router {
  const router = Router();
  const back = (
    request: Request<{ id: string }>,
    response: Response,
    notice: string,
    anchor = '',
  ) => response.redirect(303, threadHref(request.params.id, placeOf(request), { notice }) + anchor);
  const providersOf = async (workspace: Workspace) =>
    (await listPaymentAccounts(deps, workspace)).map(({ provider }) => provider);

  router.get('/conversations/:id/payment-link', async (request, response) => {
    const { workspace } = signedInOf(response);
    const providers = await providersOf(workspace);
    const values = newPaymentValues(providers, {
      form: newFormToken(),
      currency: await lastCurrency(deps, workspace),
    });
    await showThread(request, response, { paying: { providers, values } });
  });

  router.post(
    '/conversations/:id/payment-link',
    async (request: Request<{ id: string }>, response) => {
      const signedIn = signedInOf(response);
      const values = formValues(request.body);
      const providers = await providersOf(signedIn.workspace);
      const refuse = (
        status: number,
        more: { problems?: Readonly<Record<string, string>>; problem?: string },
      ) => showThread(request, response.status(status), { paying: { providers, values, ...more } });
      const wanted = wantedFrom(values, providers);
      if (!wanted.ok) return refuse(400, { problems: wanted.problems });
      try {
        const paymentId = await makeLink(signedIn, request.params.id, values, wanted.data);
        const payment = await followPayment(signedIn.workspace, paymentId, WAIT_MS);
        back(request, response, await afterMaking(signedIn, payment, values), `#${paymentId}`);
      } catch (error) {
        const problems = refusedWanted(error, wanted.data);
        if (problems !== null) return refuse(400, { problems });
        if (!(error instanceof AppError)) throw error;
        if (error.code === 'payment_provider_missing')
          return refuse(409, { problem: 'This provider was removed meanwhile. No link was made.' });
        if (error.code !== 'conversation_closed') throw error;
        back(request, response, 'already-closed');
      }
    },
  );

  /** Sent twice with the same content, the form makes one link. */
  const makeLink = (
    signedIn: SignedIn,
    conversationId: string,
    values: FormValues,
    wanted: WantedPayment,
  ): Promise<string> =>
    onceForForm(
      deps,
      signedIn.workspace,
      ['payment-link', conversationId, values.form ?? newFormToken(), wanted],
      async (within) => {
        const { payment } = await createPaymentLink(
          within,
          signedIn.workspace,
          conversationId,
          wanted,
          actorOf(signedIn),
        );
        return payment.id;
      },
    );

  /** Sends the link when that is wanted and the link is there. @returns the notice's code */
  async function afterMaking(
    signedIn: SignedIn,
    payment: Payment,
    values: FormValues,
  ): Promise<string> {
    if (payment.status === 'creating') return 'payment-preparing';
    if (payment.status === 'failed') return 'payment-refused';
    if (values.send !== 'on') return 'payment-created';
    return payment.status === 'open'
      ? sendLink(signedIn, payment, `form ${values.form ?? ''}`)
      : 'payment-already-ended';
  }

  /** Sends it as a message of the member, once for each form. @returns the notice's code */
  async function sendLink(signedIn: SignedIn, payment: Payment, form: string): Promise<string> {
    const { workspace } = signedIn;
    try {
      await onceForForm(
        deps,
        workspace,
        ['send-payment-link', payment.id, form],
        async (within) => {
          const { message } = await sendMessage(
            within,
            workspace,
            payment.conversationId,
            messageOf(payment, paymentPageUrl(deps, payment)),
            actorOf(signedIn),
          );
          return message.id;
        },
      );
      return 'payment-sent';
    } catch (error) {
      const notice = error instanceof AppError ? NOT_SENT[error.code] : undefined;
      if (notice === undefined) throw error;
      return notice;
    }
  }

  /** @throws not_found (404) when the link is not one of this conversation */
  async function linkOf({ params }: Post, workspace: Workspace): Promise<Payment> {
    const { payment } = await getPaymentLink(deps, workspace, params.paymentId);
    if (payment.conversationId !== params.id) throw notFound('payment link', params.paymentId);
    return payment;
  }

  const act = (
    verb: string,
    run: (signedIn: SignedIn, payment: Payment, values: FormValues) => Promise<string>,
  ) =>
    router.post(
      `/conversations/:id/payments/:paymentId/${verb}`,
      async (request: Post, response: Response) => {
        const signedIn = signedInOf(response);
        const payment = await linkOf(request, signedIn.workspace);
        back(
          request,
          response,
          await run(signedIn, payment, formValues(request.body)),
          `#${payment.id}`,
        );
      },
    );
  act('send', async (signedIn, payment, values) =>
    payment.status === 'open'
      ? sendLink(signedIn, payment, `after ${values.after ?? ''}`)
      : 'payment-already-ended',
  );
  act('cancel', (signedIn, { id }) => cancelLink(deps, signedIn, id));
  act('mark-paid', (signedIn, { id }, values) => markLinkPaid(deps, signedIn, id, values));

  return router;
}

/** Why a link was not sent: a code of the notices, by the error's. */
const NOT_SENT: Readonly<Record<string, string>> = {
  outside_messaging_window: 'payment-not-sent-window',
  channel_removed: 'payment-not-sent-channel',
  conversation_closed: 'payment-not-sent-closed',
};

/** In no language but the description's. */
const messageOf = (payment: Payment, url: string): string =>
  `${payment.description}\n${amountOf(payment)}\n${url}`;

/** What the workspace was last paid in. */
async function lastCurrency(deps: Deps, workspace: Workspace): Promise<string> {
  const { items } = await listPaymentLinks(deps, workspace, {}, { limit: 1, cursor: null });
  return items[0]?.payment.currency ?? 'usd';
}
