import { once } from 'node:events';
import { Router, type Response } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { AppError, ERROR_CATALOGUE } from '../../domain/errorCatalogue.ts';
import { listChatMessages } from '../../domain/operations/listChatMessages.ts';
import { persistently } from '../../work/persistently.ts';
import { visitorOf, type Caller } from '../authentication.ts';
import type { ChatFeed } from '../chatFeed.ts';
import { streamChatMessages } from '../contract/chat.ts';
import { OpenStreams, type StreamLimits } from '../openStreams.ts';
import { chatMessageJson } from '../views/chatMessage.ts';

const BATCH = 100;
/** What is left of an ended stream may take so long to leave. */
const LINGER_MS = 5000;
const FULL_RETRY_SECONDS = 30;
const RETRY_MS = 1000;
/** A page that was ended for a newer one comes back only so much later, so that two do not drive each other out. */
const REPLACED_RETRY_MS = 60_000;

export interface ChatStreamSettings extends StreamLimits {
  /** A visitor who takes nothing for as long as from one beat to the next is gone. */
  readonly beatMs: number;
}

/** A browser has one stream a tab; all of them together must stay far below what a process may have open. */
export const CHAT_STREAMS: ChatStreamSettings = { perKey: 8, inAll: 5000, beatMs: 15_000 };

/**
 * The visitor's messages as server-sent events, read by fetch with the Authorization header, so that
 * no token is ever in an address. Begins after Last-Event-ID (a message id), else with the first message.
 * @param signal ends all streams
 * @throws unavailable (503) when too many streams are open in all
 * @see design section 4, "Inbound"
 */
export function chatStreamRouter(deps: Pick<Deps, 'store'>, feed: ChatFeed, signal: AbortSignal, settings = CHAT_STREAMS): Router {
  const router = Router();
  const streams = new OpenStreams(settings);

  router.get(streamChatMessages.path, async (request, response) => {
    const contact = visitorOf(response.locals.caller as Caller);
    let lastId = request.get('last-event-id') ?? null;
    let wake = () => {};
    let news = true;
    const ended = new AbortController();
    const stop = () => {
      ended.abort();
      wake();
    };
    const leave = streams.enter(contact.id, () => {
      response.write(`retry: ${REPLACED_RETRY_MS}\n\n`);
      stop();
    });
    if (!leave) throw new AppError('unavailable', `Too many chats are open. ${ERROR_CATALOGUE.unavailable.fix}`, { retryAfterSeconds: FULL_RETRY_SECONDS });

    const stopListening = feed.listen(contact.id, () => {
      news = true;
      wake();
    });
    const stopBeating = beat(response, settings.beatMs);
    response.on('close', stop);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
      response.write(`retry: ${RETRY_MS}\n\n`);
      while (!ended.signal.aborted) {
        if (!news) await new Promise<void>((resolve) => (wake = resolve));
        news = false;
        for (let isMore = true; isMore && !ended.signal.aborted; ) {
          const messages = await persistently(() => listChatMessages(deps, contact.id, lastId, BATCH), ended.signal);
          if (ended.signal.aborted) break;
          for (const message of messages) {
            if (!(await writeInTurn(response, `id: ${message.id}\nevent: message\ndata: ${JSON.stringify(chatMessageJson(message))}\n\n`, ended.signal))) break;
            lastId = message.id;
          }
          isMore = messages.length === BATCH;
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

/** Keeps a connection in use, and ends one that took nothing from one beat to the next. Returns the way to stop. */
function beat(response: Response, everyMs: number): () => void {
  let isWaited = false;
  response.on('drain', () => (isWaited = false));
  const timer = setInterval(() => {
    if (isWaited) return void response.destroy();
    isWaited = response.writableNeedDrain;
    if (!isWaited) response.write(': beat\n\n');
  }, everyMs);
  return () => clearInterval(timer);
}

/**
 * Writes once what came before has been taken: a slow reader makes us wait, not hold all in memory.
 * @returns false when the stream ended before
 */
async function writeInTurn(response: Response, text: string, ended: AbortSignal): Promise<boolean> {
  if (response.writableNeedDrain && !ended.aborted) await once(response, 'drain', { signal: ended }).catch(() => {});
  if (ended.aborted) return false;
  response.write(text);
  return true;
}

/** Ends a response; a reader who does not take the rest is cut off. */
function endSoon(response: Response): void {
  if (response.closed) return;
  const late = setTimeout(() => response.destroy(), LINGER_MS);
  response.once('close', () => clearTimeout(late));
  response.end();
}
