import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { AppError } from '../../domain/errorCatalogue.ts';
import { listChatMessages } from '../../domain/operations/listChatMessages.ts';
import { retryThroughOutage } from '../../work/outageRetry.ts';
import { atBound } from '../atBound.ts';
import { callerOf, visitorOf } from '../caller.ts';
import type { ChatFeed } from '../chatFeed.ts';
import { streamChatMessages } from '../contract/chat.ts';
import { beat, beginEvents, endSoon, writeInTurn } from '../eventStream.ts';
import { OpenStreams, type StreamLimits } from '../openStreams.ts';
import { byAddress, type RateLimit } from '../rateLimit.ts';
import { chatMessageJson } from '../views/chatMessage.ts';

const BATCH = 100;
const FULL_RETRY_MS = 30_000;
const RETRY_MS = 1000;
/**
 * A page that was ended for a newer one comes back only so much later, so that two do not drive
 * each other out.
 */
const REPLACED_RETRY_MS = 60_000;

export interface ChatStreamSettings extends StreamLimits {
  /** A visitor who takes nothing for as long as from one beat to the next is gone. */
  readonly beatMs: number;
  /** What an address is sent counts by it. */
  readonly readBytes: RateLimit;
}

/**
 * A browser has one stream a tab, and hardly anybody has the chat open in more than three; all of
 * them together must stay far below what a process may have open.
 */
export const CHAT_STREAMS: ChatStreamSettings = {
  perOwner: 3,
  perAddress: Infinity,
  inAll: 5000,
  beatMs: 15_000,
  readBytes: { spend: async () => {} },
};

/**
 * The visitor's messages as server-sent events, read by fetch with the Authorization header, so
 * that no token is ever in an address. Begins after Last-Event-ID (a message id), else with the
 * first message.
 * @param signal ends all streams
 * @throws rate_limited (429) when too many are open from the visitor's address, unavailable (503)
 * when the workspace has its share of all: then the messages can be asked for
 */
export function chatStreamRouter(
  deps: Pick<Deps, 'store' | 'bounds'>,
  feed: ChatFeed,
  signal: AbortSignal,
  settings = CHAT_STREAMS,
): Router {
  const router = Router();
  const streams = new OpenStreams(settings);

  router.get(streamChatMessages.path, async (request, response, next) => {
    // would never end, and nothing written would tell that its reader is gone
    if (request.method === 'HEAD') return next();
    const caller = callerOf(response)!;
    const contact = visitorOf(caller);
    let lastId = request.get('last-event-id') ?? null;
    let wake = () => {};
    let news = true;
    const ended = new AbortController();
    const retry = retryThroughOutage(ended.signal);
    const stop = () => {
      ended.abort();
      wake();
    };
    const of = { owner: contact.id, address: byAddress(request), workspace: caller.workspace.id };
    await settings.readBytes.spend(of.address, 0);
    const leave = streams.enter(of, () => {
      response.write(`retry: ${REPLACED_RETRY_MS}\n\n`);
      stop();
    });
    if (leave === 'address')
      throw atBound(
        deps.bounds,
        'address_streams',
        'Too many chat streams are open from one address.',
        { retryAfterMs: FULL_RETRY_MS },
      );
    if (leave === 'workspace')
      throw atBound(deps.bounds, 'workspace_streams', 'Too many chats are open.', {
        code: 'unavailable',
        retryAfterMs: FULL_RETRY_MS,
      });

    const stopListening = feed.listen(contact.id, () => {
      news = true;
      wake();
    });
    const stopBeating = beat(response, settings.beatMs);
    response.on('close', stop);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      beginEvents(request, response, RETRY_MS);
      while (!ended.signal.aborted) {
        if (!news) await new Promise<void>((resolve) => (wake = resolve));
        news = false;
        for (let isMore = true; isMore && !ended.signal.aborted; ) {
          const messages = await retry(() => listChatMessages(deps, contact.id, lastId, BATCH));
          if (ended.signal.aborted) break;
          let bytes = 0;
          for (const message of messages) {
            const text = `id: ${message.id}\nevent: message\ndata: ${JSON.stringify(chatMessageJson(message))}\n\n`;
            if (!(await writeInTurn(response, text, ended.signal))) break;
            lastId = message.id;
            bytes += Buffer.byteLength(text);
          }
          isMore = messages.length === BATCH;
          const waitMs = await settings.readBytes.spend(of.address, bytes).then(() => 0, waitMsOf);
          // What is new always comes; a long past waits while its address was sent too much.
          if (isMore && waitMs > 0)
            await sleep(waitMs, undefined, { signal: ended.signal }).catch(() => {});
        }
      }
    } finally {
      leave();
      stopListening();
      stopBeating();
      signal.removeEventListener('abort', stop);
      endSoon(response);
    }
  });

  return router;
}

/** @throws what is no refusal of a rate */
function waitMsOf(refusal: unknown): number {
  if (!(refusal instanceof AppError)) throw refusal;
  return (refusal.details.retryAfterSeconds ?? 0) * 1000;
}
