import { jsonIn } from '../../platform/json.ts';
import { Router, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { ConnectedChannel, OpenAccount, Verification } from '../../channels/channelAdapter.ts';
import { CONNECTED_CHANNELS } from '../../channels/registry.ts';
import { openSetup } from '../../platform/accounts/accountSetup.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, errorWithFix, notFound } from '../../platform/http/errorCatalogue.ts';
import { findChannelAt } from '../../channels/operations/channels.ts';
import { applyPaymentUpdate } from '../../payments/operations/endPaymentLink.ts';
import { findPaymentAccountAt } from '../../payments/operations/paymentAccounts.ts';
import { receiveInbound } from '../../channels/operations/receiveInbound.ts';
import { openPaymentAccount } from '../../payments/accounts.ts';
import type { OpenPaymentAccount, RemoteProvider } from '../../payments/paymentAdapter.ts';
import { PAYMENT_ADAPTERS } from '../../payments/registry.ts';
import { KeyedMutex } from '../../platform/async/semaphore.ts';
import { stopCounting } from '../../platform/http/server/connections.ts';
import { readBody } from '../../platform/http/server/readBody.ts';

/**
 * The webhooks of channels and payment providers. Each request is verified with the secret of the
 * account that its address names. The answer is 200 once everything is stored; any other answer
 * makes the sender send it again.
 */

/** Meta sends at most 3 MB at once. */
const MAX_CHANNEL_BODY_MIB = 4;
const MAX_PAYMENT_BODY_MIB = 1;

/**
 * `/channels/{type}/webhook/{channel_id}`. Webhooks that arrive together are stored contact by
 * contact, in the order in which their bodies were complete.
 */
export function channelWebhooksRouter(deps: Deps, log: Logger): Router {
  const router = Router();
  const contacts = new KeyedMutex();
  const address = router.route('/channels/:type/webhook/:channelId');

  address.get(async (request, response) => {
    const addressed = await getChannel(deps, request);
    const verification = verify(addressed, request, Buffer.alloc(0));
    if (verification.type !== 'answer')
      throw new AppError(
        'invalid_request',
        'GET only verifies this address. Send webhooks with POST.',
      );
    answer(response, verification.text);
  });

  address.post(async (request, response) => {
    const addressed = await getChannel(deps, request);
    deps.assertRoom('data', addressed.account.channel.workspaceId);
    const rawBody = await readSigned(request, response, MAX_CHANNEL_BODY_MIB);
    const verification = verify(addressed, request, rawBody);
    stopCounting(request);
    if (verification.type === 'answer') return answer(response, verification.text);
    await storeInbound(deps, log, addressed, rawBody, contacts);
    answer(response, 'ok');
  });

  address.all(refuseOthers('GET, POST', 'Channels'));
  return router;
}

interface AddressedChannel {
  readonly adapter: ConnectedChannel;
  readonly account: OpenAccount;
}

/** @throws not_found (404), before a byte of the body is read */
async function getChannel(deps: Deps, { params }: Request): Promise<AddressedChannel> {
  const { type, channelId } = params as { type: string; channelId: string };
  const adapter = CONNECTED_CHANNELS.find((each) => each.type === type);
  const channel = adapter ? await findChannelAt(deps, adapter.type, channelId) : null;
  if (!adapter || !channel) throw notFound('channel', channelId);
  return { adapter, account: { channel, values: openSetup(deps, channel) } };
}

/** @throws unauthorized (401) */
function verify(
  { adapter, account }: AddressedChannel,
  request: Request,
  rawBody: Buffer,
): Exclude<Verification, { type: 'refused' }> {
  const method = request.method === 'POST' ? 'POST' : 'GET';
  const { query, headers } = request;
  const verification = adapter.verify({ method, query, headers, rawBody }, account);
  if (verification.type !== 'refused') return verification;
  request.log.warn(
    { channel: account.channel.id, why: verification.why },
    'a webhook of a channel was refused',
  );
  throw new AppError(
    'unauthorized',
    `${verification.why} Compare the values under Channels with the settings of ${adapter.label}.`,
  );
}

/**
 * Stores what a webhook brings. What cannot be read is logged and ignored: if it were refused, the
 * channel would send it again.
 */
async function storeInbound(
  deps: Deps,
  log: Logger,
  { adapter, account }: AddressedChannel,
  bytes: Buffer,
  contacts: KeyedMutex,
): Promise<void> {
  const { channel } = account;
  const body = jsonIn(bytes.toString());
  if (body === undefined)
    return log.warn(
      { channel: channel.id, bytes: bytes.length },
      'a channel sent a webhook that is not JSON; it was ignored',
    );
  const { unknown } = await receiveInbound(deps, channel, adapter.parse(body, account), contacts);
  if (unknown > 0)
    log.warn(
      { channel: channel.id, items: unknown },
      'a channel sent items for accounts that are not connected here; they were ignored',
    );
}

const answer = (response: Response, text: string): void =>
  void response.type('text/plain').send(text);

/** `/payments/{provider}/webhook/{account_id}`. */
export function paymentWebhooksRouter(deps: Deps, log: Logger): Router {
  const router = Router();
  const address = router.route('/payments/:provider/webhook/:accountId');

  address.post(async (request, response) => {
    const { adapter, opened } = await getPaymentAccount(deps, request);
    const { account } = opened;
    deps.assertRoom('data', account.workspaceId);
    const rawBody = await readSigned(request, response, MAX_PAYMENT_BODY_MIB);
    const updates = await adapter.readWebhook({ rawBody, headers: request.headers }, opened);
    if (updates === null) throw unverified(request, adapter, opened);
    stopCounting(request);
    const actor = { type: 'api', name: adapter.label } as const;
    for (const update of updates) {
      const about = {
        account: account.id,
        payment: update.paymentId.slice(0, 40),
        reference: update.reference.slice(0, 100),
        state: update.state,
      };
      if (await applyPaymentUpdate(deps, account, update, actor))
        log.info(about, 'a payment provider reported a payment');
      else
        log.warn(
          about,
          'a payment provider reported a payment that its account does not have here; it was ignored',
        );
    }
    response.json({ received: true });
  });

  address.all(refuseOthers('POST', 'Payment providers'));
  return router;
}

/** @throws not_found (404), before a byte of the body is read */
async function getPaymentAccount(
  deps: Deps,
  { params }: Request,
): Promise<{ adapter: RemoteProvider; opened: OpenPaymentAccount }> {
  const { provider, accountId } = params as { provider: string; accountId: string };
  const adapter = PAYMENT_ADAPTERS.find((each) => each.provider === provider);
  const account = adapter?.isRemote ? await findPaymentAccountAt(deps, provider, accountId) : null;
  if (!adapter?.isRemote || !account) throw notFound('payment account', accountId);
  return { adapter, opened: openPaymentAccount(deps, account) };
}

/** An invalid_request (400), which the provider shows in its dashboard. */
function unverified(
  request: Request,
  { label }: RemoteProvider,
  { account }: OpenPaymentAccount,
): AppError {
  request.log.warn(
    { account: account.id },
    'a webhook of a payment provider was refused: its signature is wrong or too old',
  );
  return new AppError(
    'invalid_request',
    `The signature is wrong or too old. Compare the signing secret under Payments with the one that ${label} shows for this address.`,
  );
}

/** The exact bytes that were signed. */
const readSigned = (request: Request, response: Response, maxMib: number): Promise<Buffer> =>
  readBody(request, response, { maxBytes: maxMib * 1024 * 1024 });

const refuseOthers =
  (allowed: string, senders: string) =>
  (_request: unknown, response: Response): never => {
    response.setHeader('Allow', allowed);
    throw errorWithFix('method_not_allowed', `${senders} send webhooks with POST.`);
  };
