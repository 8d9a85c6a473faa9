import { Router } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { listChatMessages } from '../../domain/operations/listChatMessages.ts';
import { visitorOf, type Caller } from '../authentication.ts';
import { streamChatMessages } from '../contract/chat.ts';
import type { ChatFeed } from '../chatFeed.ts';
import { chatMessageJson } from '../views/chatMessage.ts';

const BEAT_MS = 15_000;
const BATCH = 100;

/**
 * The visitor's messages as server-sent events, read by fetch with the Authorization header, so that
 * no token is ever in an address. Begins after Last-Event-ID (a message id), else with the first message.
 * @param signal ends all streams
 * @see design section 4, "Inbound"
 */
export function chatStreamRouter(deps: Deps, feed: ChatFeed, signal: AbortSignal): Router {
  const router = Router();

  router.get(streamChatMessages.path, async (request, response) => {
    const contact = visitorOf(response.locals.caller as Caller);
    let lastId = request.get('last-event-id') ?? null;
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    response.write('retry: 2000\n\n');

    let wake = () => {};
    let news = true;
    let open = true;
    const signalNews = () => {
      news = true;
      wake();
    };
    const stop = () => {
      open = false;
      wake();
    };
    const stopListening = feed.listen(contact.id, signalNews);
    const beat = setInterval(() => response.write(': beat\n\n'), BEAT_MS);
    request.on('close', stop);
    signal.addEventListener('abort', stop);
    try {
      while (open && !signal.aborted) {
        if (!news) await new Promise<void>((resolve) => (wake = resolve));
        news = false;
        for (;;) {
          const messages = await listChatMessages(deps, contact.id, lastId, BATCH);
          for (const message of messages) {
            response.write(`id: ${message.id}\nevent: message\ndata: ${JSON.stringify(chatMessageJson(message))}\n\n`);
            lastId = message.id;
          }
          if (messages.length < BATCH || !open) break;
        }
      }
    } finally {
      stopListening();
      clearInterval(beat);
      signal.removeEventListener('abort', stop);
      response.end();
    }
  });

  return router;
}
