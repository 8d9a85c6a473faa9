import { hashToken, newPageToken } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import {
  assertOpen,
  loadConversation,
  type ConversationView,
  putStageForward,
} from '../../conversations/index.ts';
import type { Actor } from '../../platform/actor.ts';
import { MAX_AMOUNT_MINOR, isCurrency } from '../../platform/currency.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, ERROR_CATALOGUE } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import {
  MAX_PAYMENT_DESCRIPTION_CHARACTERS,
  type Payment,
  type PaymentProvider,
  type PaymentRules,
} from '../payment.ts';
import { countLink } from '../counted.ts';
import type { Workspace } from '../../team/index.ts';
import { findPaymentAccount } from './paymentAccounts.ts';
import { putPayment, type PaymentView } from './paymentLinks.ts';

export interface WantedPayment {
  /** Minor units of the currency. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
  readonly description: string;
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
  { payments, secrets }: Pick<Deps, 'payments' | 'secrets'>,
  view: ConversationView,
  wanted: WantedPayment,
  actor: Actor,
  now: Date,
): Promise<Payment> {
  assertOpen(view.conversation);
  assertValid(wanted);
  const provider = await chooseProvider(tx, payments.providers, view.workspace, wanted.provider);
  const rules = payments.rulesOf(provider);
  const expiresInSeconds = wanted.expiresInSeconds ?? rules.expiresIn.default;
  assertAccepted(rules, wanted, expiresInSeconds, provider);

  const token = newPageToken();
  const page = { pageTokenHash: hashToken(token), sealedPageToken: secrets.seal(token) };
  const payment = newPayment(
    view,
    { ...wanted, ...page, provider, expiresInSeconds, isRemote: rules.isRemote },
    actor,
    now,
  );
  await putPayment(tx, payment);
  await countLink(tx, payment, now);
  if (payment.status === 'open') await putStageForward(tx, view, 'payment_pending', actor, now);
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
    work: wanted.isRemote ? { task: 'create', attempts: 0, runAt: at } : null,
    checkedAt: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** @throws invalid_request (400) for what no provider accepts */
function assertValid({ amount, currency, description }: WantedPayment): void {
  if (!Number.isInteger(amount) || amount < 1 || amount > MAX_AMOUNT_MINOR) {
    throw refusal('amount', `must be a whole number of minor units from 1 to ${MAX_AMOUNT_MINOR}`);
  }
  if (!isCurrency(currency))
    throw refusal(
      'currency',
      'must be a three-letter ISO 4217 currency code in lower case, such as usd',
    );
  if (description.trim() === '') throw refusal('description', 'must not be empty');
  if ([...description].length > MAX_PAYMENT_DESCRIPTION_CHARACTERS)
    throw refusal(
      'description',
      `must have at most ${MAX_PAYMENT_DESCRIPTION_CHARACTERS} characters`,
    );
}

/** @throws invalid_request (400) for what this provider does not accept */
function assertAccepted(
  rules: PaymentRules,
  wanted: WantedPayment,
  expiresInSeconds: number,
  provider: PaymentProvider,
): void {
  const { min, max } = rules.expiresIn;
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < min || expiresInSeconds > max) {
    throw refusal('expires_in', `must be from ${min} to ${max} seconds with ${provider}`);
  }
  const refused = rules.refuse(wanted);
  if (refused) throw refusal(refused.param, refused.message);
}

const refusal = (param: string, message: string) =>
  new AppError('invalid_request', `${param} ${message}.`, { param });

/** @throws payment_provider_missing (409) when no provider, or not the wanted one, is set up */
async function chooseProvider(
  tx: Tx,
  providers: readonly PaymentProvider[],
  workspace: Workspace,
  wanted: PaymentProvider | undefined,
): Promise<PaymentProvider> {
  for (const provider of wanted === undefined ? providers : [wanted]) {
    if (await findPaymentAccount(tx, workspace.id, provider)) return provider;
  }
  const what =
    wanted === undefined
      ? 'No payment provider is set up in this workspace.'
      : `The payment provider ${wanted} is not set up in this workspace.`;
  throw new AppError(
    'payment_provider_missing',
    `${what} ${ERROR_CATALOGUE.payment_provider_missing.fix}`,
  );
}
