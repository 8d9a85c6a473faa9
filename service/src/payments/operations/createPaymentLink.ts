import { hashToken, newPageToken } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import {
  assertOpen,
  loadConversation,
  type ConversationView,
  advanceFunnelStage,
} from '../../conversations/index.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, errorWithFix } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import {
  newWork,
  type Payment,
  type PaymentLinkRequest,
  type PaymentProvider,
} from '../payment.ts';
import type { PaymentAdapter } from '../paymentAdapter.ts';
import { PAYMENT_ADAPTERS, paymentAdapterOf } from '../registry.ts';
import { countLink } from '../counted.ts';
import type { Workspace } from '../../team/index.ts';
import { findPaymentAccount } from './paymentAccounts.ts';
import { putPayment, type PaymentView } from './paymentLinks.ts';

export interface WantedPayment extends PaymentLinkRequest {
  /** When left out, the first provider that is set up. */
  readonly provider?: PaymentProvider | undefined;
  /** When left out, the provider's default. */
  readonly expiresInSeconds?: number | undefined;
}

/**
 * Makes a payment link in a conversation and moves the funnel to `payment_pending`. If the provider
 * hosts the page, the link is `creating` at first: a job asks the provider for the page, and the
 * funnel moves only when the page exists.
 * @throws not_found (404), conversation_closed, payment_provider_missing (409), invalid_request
 * (400)
 * @see docs/payments.md
 */
export const createPaymentLink = (
  deps: Deps,
  workspace: Workspace,
  conversationId: string,
  wanted: WantedPayment,
  actor: Actor,
) =>
  deps.store.transaction(async (tx): Promise<PaymentView> => {
    const view = await loadConversation(tx, workspace, conversationId);
    const payment = await putPaymentLink(tx, deps, view, wanted, actor, deps.clock.now());
    return { payment, contact: view.contact };
  });

/** As `createPaymentLink`, within the caller's transaction. */
export async function putPaymentLink(
  tx: Tx,
  { secrets }: Pick<Deps, 'secrets'>,
  view: ConversationView,
  wanted: WantedPayment,
  actor: Actor,
  now: Date,
): Promise<Payment> {
  assertOpen(view.conversation);
  const adapter = await chooseAdapter(tx, view.workspace, wanted.provider);
  const { provider, isRemote } = adapter;
  const expiresInSeconds = wanted.expiresInSeconds ?? adapter.expiresIn.default;
  assertAccepted(adapter, wanted, expiresInSeconds);

  const token = newPageToken();
  const page = { pageTokenHash: hashToken(token), sealedPageToken: secrets.seal(token) };
  const payment = newPayment(
    view,
    { ...wanted, ...page, provider, expiresInSeconds, isRemote },
    actor,
    now,
  );
  await putPayment(tx, payment);
  await countLink(tx, payment, now);
  if (payment.status === 'open') await advanceFunnelStage(tx, view, 'payment_pending', actor, now);
  return payment;
}

function newPayment(
  { conversation, contact }: ConversationView,
  wanted: WantedPayment &
    Pick<Payment, 'provider' | 'pageTokenHash' | 'sealedPageToken'> & {
      expiresInSeconds: number;
      isRemote: boolean;
    },
  actor: Actor,
  now: Date,
): Payment {
  const at = timestamp(now);
  return {
    id: newId('pay'),
    workspaceId: conversation.workspaceId,
    conversationId: conversation.id,
    contactId: contact.id,
    afterMessage: conversation.messageCount,
    status: wanted.isRemote ? 'creating' : 'open',
    amount: wanted.amount,
    currency: wanted.currency,
    description: wanted.description.trim(),
    provider: wanted.provider,
    providerReference: null,
    providerUrl: null,
    pageTokenHash: wanted.pageTokenHash,
    sealedPageToken: wanted.sealedPageToken,
    error: null,
    createdBy: actor,
    expiresAt: timestamp(new Date(now.getTime() + wanted.expiresInSeconds * 1000)),
    paidAt: null,
    markedPaidBy: null,
    work: wanted.isRemote ? newWork('create', now) : null,
    checkedAt: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** @throws invalid_request (400) for what this provider does not accept */
function assertAccepted(
  { provider, expiresIn: { min, max }, refuse }: PaymentAdapter,
  { amount, currency }: WantedPayment,
  expiresInSeconds: number,
): void {
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < min || expiresInSeconds > max) {
    throw refusal('expires_in', `must be from ${min} to ${max} seconds with ${provider}`);
  }
  const refused = refuse(amount, currency);
  if (refused) throw refusal(refused.param, refused.message);
}

const refusal = (param: string, message: string) =>
  new AppError('invalid_request', `${param} ${message}.`, { param });

/** @throws payment_provider_missing (409) when no provider, or not the wanted one, is set up */
async function chooseAdapter(
  tx: Tx,
  workspace: Workspace,
  wanted: PaymentProvider | undefined,
): Promise<PaymentAdapter> {
  for (const adapter of wanted === undefined ? PAYMENT_ADAPTERS : [paymentAdapterOf(wanted)]) {
    if (await findPaymentAccount(tx, workspace.id, adapter.provider)) return adapter;
  }
  const what =
    wanted === undefined
      ? 'No payment provider is set up in this workspace.'
      : `The payment provider ${wanted} is not set up in this workspace.`;
  throw errorWithFix('payment_provider_missing', what);
}
