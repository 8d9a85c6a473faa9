import { Router, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { ConnectedChannel, OpenAccount, Verification } from '../../channels/channelAdapter.ts';
import { CONNECTED_CHANNELS } from '../../channels/registry.ts';
import type { Deps } from '../../domain/deps.ts';
import { AppError, ERROR_CATALOGUE, notFound } from '../../domain/errorCatalogue.ts';
import { findChannelAt } from '../../domain/operations/channels.ts';
import { receiveInbound } from '../../domain/operations/receiveInbound.ts';
import { openSetup } from '../../domain/accountSetup.ts';
import { KeyedMutex } from '../../work/keyedMutex.ts';
import { noLongerStranger } from '../connections.ts';
import { readBody } from '../readBody.ts';

/** Meta sends at most 3 MB at once. */
const MAX_WEBHOOK_BODY_MIB = 4;

const NO_BYTES = Buffer.alloc(0);

/**
 * The webhooks of channels: `/channels/{type}/webhook/{channel_id}`. Each request is verified with
 * the secret of its account. The answer is 200 once everything is stored; any other answer makes the
 * channel send it again. Webhooks that arrive together are stored contact by contact, in the order
 * in which their bodies were complete.
 */
export function channelWebhooksRouter(deps: Deps, log: Logger): Router {
  const router = Router();
  const contacts = new KeyedMutex();
  const address = router.route('/channels/:type/webhook/:channelId');

  address.get(async (request, response) => {
    const { adapter, account } = await findAccount(deps, request);
    const verification = verify(adapter, account, request, log);
    if (verification.type !== 'answer')
      throw new AppError(
        'invalid_request',
        'GET only verifies this address. Send webhooks with POST.',
      );
    answer(response, verification.text);
  });

  address.post(async (request, response) => {
    const addressed = await findAccount(deps, request);
    const { adapter, account } = addressed;
    deps.assertRoom('data', account.channel.workspaceId);
    // The exact bytes that were signed.
    request.body = await readBody(request, response, {
      maxBytes: MAX_WEBHOOK_BODY_MIB * 1024 * 1024,
    });
    const verification = verify(adapter, account, request, log);
    noLongerStranger(request);
    if (verification.type === 'answer') return answer(response, verification.text);
    await storeInbound(deps, log, addressed, bytesOf(request), contacts);
    answer(response, 'ok');
  });

  address.all((_request, response) => {
    response.setHeader('Allow', 'GET, POST');
    throw new AppError(
      'method_not_allowed',
      `Channels send webhooks with POST. ${ERROR_CATALOGUE.method_not_allowed.fix}`,
    );
  });

  return router;
}

interface Addressed {
  readonly adapter: ConnectedChannel;
  readonly account: OpenAccount;
}

/** @throws not_found (404), before a byte of the body is read */
async function findAccount(deps: Deps, { params }: Request): Promise<Addressed> {
  const { type, channelId } = params as { type: string; channelId: string };
  const adapter = CONNECTED_CHANNELS.find((each) => each.type === type);
  const channel = adapter ? await findChannelAt(deps, type, channelId) : null;
  if (!adapter || !channel) throw notFound('channel', channelId);
  return { adapter, account: { channel, values: openSetup(deps, channel) } };
}

/** @throws unauthorized (401) */
function verify(
  adapter: ConnectedChannel,
  account: OpenAccount,
  request: Request,
  log: Logger,
): Exclude<Verification, { type: 'refused' }> {
  const method = request.method === 'POST' ? 'POST' : 'GET';
  const { query, headers } = request;
  const verification = adapter.verify(
    { method, query, headers, rawBody: bytesOf(request) },
    account,
  );
  if (verification.type !== 'refused') return verification;
  log.warn(
    { channel: account.channel.id, why: verification.why },
    'a webhook of a channel was refused',
  );
  throw new AppError(
    'unauthorized',
    `${verification.why} Compare the values under Channels with the settings of ${adapter.label}.`,
  );
}

/** Stores what a webhook brings. What cannot be read is logged and ignored, or it would be sent again. */
async function storeInbound(
  deps: Deps,
  log: Logger,
  { adapter, account }: Addressed,
  bytes: Buffer,
  contacts: KeyedMutex,
): Promise<void> {
  const { channel } = account;
  const body = jsonOf(bytes);
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

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    return undefined;
  }
}

const bytesOf = ({ body }: Request): Buffer => (Buffer.isBuffer(body) ? body : NO_BYTES);

const answer = (response: Response, text: string): void =>
  void response.type('text/plain').send(text);
