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

/** Meta delivers at most 3 MB at once. */
const MAX_WEBHOOK_BODY_MIB = 4;

const NO_BYTES = Buffer.alloc(0);

/**
 * What channels deliver: `/channels/{type}/webhook/{channel_id}`. Each address is verified with its
 * own account's secret; 200 is answered once everything is durable, and anything else makes the
 * channel deliver it again. Deliveries that come at once are taken in in the order in which their
 * bodies were complete, contact by contact.
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
        'GET only asks whether this address is ours. Deliver with POST.',
      );
    answer(response, verification.text);
  });

  address.post(async (request, response) => {
    const addressed = await findAccount(deps, request);
    const { adapter, account } = addressed;
    deps.assertRoom('data', account.channel.workspaceId);
    // The very bytes that were signed.
    request.body = await readBody(request, response, {
      maxBytes: MAX_WEBHOOK_BODY_MIB * 1024 * 1024,
    });
    const verification = verify(adapter, account, request, log);
    noLongerStranger(request);
    if (verification.type === 'answer') return answer(response, verification.text);
    await takeIn(deps, log, addressed, bytesOf(request), contacts);
    answer(response, 'ok');
  });

  address.all((_request, response) => {
    response.setHeader('Allow', 'GET, POST');
    throw new AppError(
      'method_not_allowed',
      `Channels deliver with POST. ${ERROR_CATALOGUE.method_not_allowed.fix}`,
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
    'a request to a channel was refused',
  );
  throw new AppError(
    'unauthorized',
    `${verification.why} Compare what is filled in under Channels with the settings of ${adapter.label}.`,
  );
}

/** What can never be read is not asked for again: it is left, and said in the log. */
async function takeIn(
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
      'a channel delivered what is no JSON; it was left',
    );
  const { unknown } = await receiveInbound(deps, channel, adapter.parse(body, account), contacts);
  if (unknown > 0)
    log.warn(
      { channel: channel.id, items: unknown },
      'a channel delivered for accounts that are not connected here; these items were left',
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
