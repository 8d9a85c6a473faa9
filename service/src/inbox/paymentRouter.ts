import { type Request, type Response, Router } from 'express';
import { inOneTransaction, type Deps } from '../platform/deps.ts';
import { AppError, notFound } from '../platform/http/errorCatalogue.ts';
import {
  createPaymentLink,
  type WantedPayment,
  getPaymentLink,
  listPaymentAccounts,
  lockOpenPaymentLink,
  type Payment,
  paymentPageUrl,
  type FollowPayment,
} from '../payments/index.ts';
import { type SignedIn, type Workspace, actorOf, signedInOf, workspaceOf } from '../team/index.ts';
import { lockActor, peekConversation, sendMessage } from '../conversations/index.ts';
import { newFormToken } from '../platform/security/tokens.ts';
import { onceForForm } from '../platform/html/formOnce.ts';
import { isError } from '../platform/html/errorPage.ts';
import { type FormValues, type Problems, readForm } from '../platform/html/forms.ts';
import type { Tx } from '../store/collections.ts';
import { cancelLink, markLinkPaid } from '../payments/screens/paymentActions.ts';
import { amountOf } from '../payments/screens/paymentView.ts';
import { newPaymentValues, parsePaymentForm, paymentProblems } from './paymentForm.ts';
import { goBack, type ShowThread } from './threadParts.ts';

type Post = Request<{ id: string; paymentId: string }>;

/** How long the browser waits for the link before the conversation shows it as being created. */
const WAIT_MS = 8000;
/** How many of a contact's newest conversations are searched for a payment link's currency. */
const MAX_LOOKED_AT = 20;

/**
 * Payment links in a conversation.
 * @param showThread shows the conversation with the form
 */
export function paymentRouter(
  deps: Deps,
  showThread: ShowThread,
  followPayment: FollowPayment,
): Router {
  const router = Router();
  addCreation(router, deps, showThread, followPayment);
  addLinkActions(router, deps);
  return router;
}

function addCreation(
  router: Router,
  deps: Deps,
  showThread: ShowThread,
  followPayment: FollowPayment,
): void {
  const listProviders = async (workspace: Workspace) =>
    (await listPaymentAccounts(deps, workspace)).map(({ provider }) => provider);

  router.get('/conversations/:id/payment-link', async (request, response) => {
    const workspace = workspaceOf(response);
    const providers = await listProviders(workspace);
    const currency = (await lastCurrency(deps, workspace, request.params.id)) ?? '';
    const values = newPaymentValues(providers, { form: newFormToken(), currency });
    await showThread(request, response, { paying: { providers, values, problems: {} } });
  });

  router.post(
    '/conversations/:id/payment-link',
    async (request: Request<{ id: string }>, response) => {
      const signedIn = signedInOf(response);
      const values = readForm(request);
      const providers = await listProviders(signedIn.workspace);
      const refuse = (status: number, problems: Problems) =>
        showThread(request, response.status(status), { paying: { providers, values, problems } });
      const form = parsePaymentForm(values, providers);
      if (!form.ok) return refuse(400, form.problems);
      try {
        const paymentId = await createLink(deps, signedIn, request.params.id, values, form.data);
        const payment = await followPayment(signedIn.workspace, paymentId, WAIT_MS);
        const notice = await sendIfWanted(deps, signedIn, payment, values);
        goBack(request, response, notice, `#${paymentId}`);
      } catch (error) {
        const problems = paymentProblems(error, form.data);
        if (problems !== null) return refuse(400, problems);
        if (isError(error, 'payment_provider_missing'))
          return refuse(409, { '': 'This provider was removed. No link was created.' });
        if (!isError(error, 'conversation_closed')) throw error;
        goBack(request, response, 'already-closed');
      }
    },
  );
}

/** Creates one link, even if the same form is sent twice. */
const createLink = (
  deps: Deps,
  signedIn: SignedIn,
  conversationId: string,
  values: FormValues,
  wanted: WantedPayment,
): Promise<string> => {
  const { workspace } = signedIn;
  const form = ['payment-link', conversationId, values.form ?? newFormToken(), wanted];
  return onceForForm(deps, workspace, form, async (within) => {
    const actor = actorOf(signedIn);
    const { payment } = await createPaymentLink(within, workspace, conversationId, wanted, actor);
    return payment.id;
  });
};

/** Sends a new link, if the member wants it and the link is open. @returns the notice's code */
async function sendIfWanted(
  deps: Deps,
  signedIn: SignedIn,
  payment: Payment,
  values: FormValues,
): Promise<string> {
  if (payment.status === 'creating') return 'payment-preparing';
  if (payment.status === 'failed') return 'payment-refused';
  if (values.send !== 'on') return 'payment-created';
  return sendLink(deps, signedIn, payment, `form ${values.form ?? ''}`);
}

/** Sends a link as the member's message, once for each form. @returns the notice's code */
async function sendLink(
  deps: Deps,
  signedIn: SignedIn,
  payment: Payment,
  form: string,
): Promise<string> {
  if (payment.status !== 'open') return 'payment-already-ended';
  const { workspace } = signedIn;
  const { id, description, conversationId } = payment;
  // The message has no words of ours, so it needs no language.
  const text = `${description}\n${amountOf(payment)}\n${paymentPageUrl(deps, payment)}`;
  try {
    const send = async (within: Deps, tx: Tx) => {
      const actor = actorOf(signedIn);
      await lockActor(tx, actor);
      // Somebody may have ended the link since it was read. Locks: docs/decisions/0033.
      await lockOpenPaymentLink(tx, workspace, id, within.clock.now());
      const { message } = await sendMessage(within, workspace, conversationId, text, actor);
      return message.id;
    };
    await onceForForm(deps, workspace, ['send-payment-link', id, form], (within) =>
      inOneTransaction(within, send),
    );
    return 'payment-sent';
  } catch (error) {
    const notice = error instanceof AppError ? NOT_SENT[error.code] : undefined;
    if (notice === undefined) throw error;
    return notice;
  }
}

/** Why a link was not sent: notices by error code. */
const NOT_SENT: Readonly<Record<string, string>> = {
  outside_messaging_window: 'payment-not-sent-window',
  channel_removed: 'payment-not-sent-channel',
  conversation_closed: 'payment-not-sent-closed',
  payment_not_open: 'payment-already-ended',
};

function addLinkActions(router: Router, deps: Deps): void {
  const add = (
    verb: string,
    act: (signedIn: SignedIn, payment: Payment, values: FormValues) => Promise<string>,
  ) =>
    router.post(
      `/conversations/:id/payments/:paymentId/${verb}`,
      async (request: Post, response: Response) => {
        const signedIn = signedInOf(response);
        const { id, paymentId } = request.params;
        const { payment } = await getPaymentLink(deps, signedIn.workspace, paymentId);
        if (payment.conversationId !== id) throw notFound('payment link', paymentId);
        const notice = await act(signedIn, payment, readForm(request));
        goBack(request, response, notice, `#${paymentId}`);
      },
    );
  // `after` is the message count when the page was made: a second click there sends nothing.
  add('send', (signedIn, payment, values) =>
    sendLink(deps, signedIn, payment, `after ${values.after ?? ''}`),
  );
  add('cancel', (signedIn, { id }) => cancelLink(deps, signedIn, id));
  add('mark-paid', (signedIn, { id }, values) => markLinkPaid(deps, signedIn, id, values));
}

/**
 * The currency of this conversation's last payment link, or else of the last one in the contact's
 * other conversations. Null when the contact has no link: another customer's currency would be a
 * trap, so the member chooses.
 */
const lastCurrency = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  conversationId: string,
): Promise<string | null> =>
  store.transaction(async (tx) => {
    const { contact } = await peekConversation(tx, workspace, conversationId);
    const conversations = await tx.conversations.find({
      where: { contactId: contact.id },
      direction: 'desc',
      limit: MAX_LOOKED_AT,
    });
    const ids = conversations.map(({ id }) => id).filter((id) => id !== conversationId);
    for (const id of [conversationId, ...ids]) {
      const where = { conversationId: id };
      const [last] = await tx.payments.find({ where, direction: 'desc', limit: 1 });
      if (last) return last.currency;
    }
    return null;
  });
