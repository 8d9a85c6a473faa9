import { setTimeout as sleep } from 'node:timers/promises';
import { Router, type Response } from 'express';
import { findTyping } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { findClosedConversation, listChatMessages } from './chatOperations.ts';
import { retryThroughOutage } from '../../platform/jobs/outageRetry.ts';
import { errorAtBound } from '../../platform/http/server/errorAtBound.ts';
import { callerOf } from '../../platform/http/caller.ts';
import { visitorOf } from './requireChatToken.ts';
import type { ChatFeed } from './chatFeed.ts';
import { streamChatMessages } from './contract.ts';
import { beat, beginEvents, endSoon, writeInTurn } from '../../platform/http/eventStream.ts';
import {
  OpenStreams,
  type StreamLimits,
  type StreamHolder,
} from '../../platform/http/server/openStreams.ts';
import { byAddress, type RateLimit } from '../../platform/http/server/rateLimit.ts';
import { chatMessageJson } from './views.ts';

const BATCH = 100;
const RETRY_WHEN_FULL_MS = 30_000;
const RETRY_MS = 1000;
/**
 * When a stream that was replaced by a newer one may come back. Sooner, two pages would keep ending
 * each other's streams.
 */
const REPLACED_RETRY_MS = 60_000;

export interface ChatStreamSettings extends StreamLimits {
  /** How often a beat is sent. A page that has not read a beat by the next one counts as gone. */
  readonly beatMs: number;
  /** Limits the bytes that are sent to an address. */
  readonly readBytes: RateLimit;
}

/**
 * A browser has one stream for each tab, and few people have the chat open in more than three. All
 * streams together must stay far below the sockets that a process may have open.
 */
export const CHAT_STREAMS: ChatStreamSettings = {
  perOwner: 3,
  perAddress: Infinity,
  inAll: 5000,
  beatMs: 15_000,
  readBytes: { spend: async () => {} },
};

/**
 * The visitor's messages as server-sent events, read by `fetch` with the Authorization header, so
 * that no token is ever in a URL. Starts after Last-Event-ID (a message id), else with the first
 * message.
 * @param signal ends all streams
 * @throws rate_limited (429) when the visitor's address has too many streams open or has read
 * too much, unavailable (503) when the workspace has its share of all streams; the page then polls
 */
export function chatStreamRouter(
  deps: Pick<Deps, 'store' | 'bounds' | 'clock'>,
  feed: ChatFeed,
  signal: AbortSignal,
  settings = CHAT_STREAMS,
): Router {
  const router = Router();
  const streams = new OpenStreams(settings);

  router.get(streamChatMessages.path, async (request, response, next) => {
    // A stream for HEAD would never end: nothing is written that could show that its reader is gone.
    if (request.method === 'HEAD') return next();
    const caller = callerOf(response)!;
    const contactId = visitorOf(caller).id;
    const address = byAddress(request);
    const changes = new Changes();
    const ended = new AbortController();
    const stop = () => {
      ended.abort();
      changes.tell();
    };
    await settings.readBytes.spend(address, 0); // throws if the address has read too much already
    const holder = { owner: contactId, address, workspace: caller.workspace.id };
    const leave = enter(deps, streams, holder, () => {
      response.write(`retry: ${REPLACED_RETRY_MS}\n\n`);
      stop();
    });
    const stopListening = feed.listen(contactId, () => changes.tell());
    const stopBeating = beat(response, settings.beatMs);
    response.on('close', stop);
    signal.addEventListener('abort', stop);
    // Both may have happened while the request was checked.
    if (signal.aborted || response.closed) stop();
    try {
      beginEvents(request, response, RETRY_MS);
      const stream = { deps, response, contactId, address, settings, ended: ended.signal };
      const lastId = request.get('last-event-id') ?? null;
      let told: Told = { lastId, typing: null, closed: null };
      while (!ended.signal.aborted) {
        await changes.next();
        told = await sendNewMessages(stream, told);
        told = await sendState(stream, told);
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

/** Remembers whether something may have changed since `next` was last awaited. */
class Changes {
  #isPending = true;
  #wake = () => {};

  tell(): void {
    this.#isPending = true;
    this.#wake();
  }

  /** Resolves at once the first time, then when something may have changed. */
  async next(): Promise<void> {
    if (!this.#isPending) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#isPending = false;
  }
}

/** @returns what to call when the stream has ended. @throws rate_limited (429), unavailable (503) */
function enter(
  { bounds }: Pick<Deps, 'bounds'>,
  streams: OpenStreams,
  holder: StreamHolder,
  onReplaced: () => void,
): () => void {
  const entered = streams.enter(holder, onReplaced);
  const retryAfterMs = RETRY_WHEN_FULL_MS;
  if (entered === 'address') {
    const words = 'Too many chat streams are open from one address.';
    throw errorAtBound(bounds, 'address_streams', words, { retryAfterMs });
  }
  if (entered === 'workspace') {
    const words = 'Too many chats are open.';
    throw errorAtBound(bounds, 'workspace_streams', words, { code: 'unavailable', retryAfterMs });
  }
  return entered;
}

interface ChatStream {
  readonly deps: Pick<Deps, 'store' | 'clock'>;
  readonly response: Response;
  readonly contactId: string;
  readonly address: string;
  readonly settings: ChatStreamSettings;
  readonly ended: AbortSignal;
}

/** What a stream told last. */
interface Told {
  /** The id of the last message; null: none. */
  readonly lastId: string | null;
  /** When the typing ends, as told; null: nobody is typing. */
  readonly typing: string | null;
  /** The conversation that is closed; null: none. */
  readonly closed: string | null;
}

/** Sends the messages after the last one, in batches. @returns what was told last */
async function sendNewMessages(stream: ChatStream, told: Told): Promise<Told> {
  const { deps, response, contactId, address, settings, ended } = stream;
  const retry = retryThroughOutage(ended);
  let { lastId, typing } = told;
  for (let isMore = true; isMore && !ended.aborted; ) {
    const messages = await retry(() => listChatMessages(deps, contactId, lastId, BATCH));
    if (ended.aborted) break;
    let bytes = 0;
    for (const message of messages) {
      const text = `id: ${message.id}\nevent: message\ndata: ${JSON.stringify(chatMessageJson(message))}\n\n`;
      if (!(await writeInTurn(response, text, ended))) break;
      lastId = message.id;
      // The page takes each message of the agent or the team for the end of the typing.
      if (message.direction === 'outbound') typing = null;
      bytes += Buffer.byteLength(text);
    }
    isMore = messages.length === BATCH;
    const waitMs = await settings.readBytes.spend(address, bytes).then(() => 0, waitMsOf);
    // New messages are never held back. A long history waits while its address is over its budget.
    if (isMore && waitMs > 0) await sleep(waitMs, undefined, { signal: ended }).catch(() => {});
  }
  return { ...told, lastId, typing };
}

/**
 * Tells whether somebody is typing, and that the newest conversation is closed, when that has changed.
 * @returns what was told last
 */
async function sendState(stream: ChatStream, told: Told): Promise<Told> {
  const { deps, contactId, ended } = stream;
  if (ended.aborted) return told;
  const now = deps.clock.now();
  const read = () =>
    deps.store.transaction((tx) =>
      Promise.all([findTyping(tx, contactId, now), findClosedConversation(tx, contactId)]),
    );
  const [typing, closed] = await retryThroughOutage(ended)(read);
  if (ended.aborted) return told;
  const until = typing?.until ?? null;
  if (until !== told.typing) {
    const seconds = until === null ? 0 : Math.ceil((Date.parse(until) - now.getTime()) / 1000);
    await sendEvent(stream, 'typing', { is_typing: until !== null, seconds });
  }
  if (closed !== null && closed.id !== told.closed)
    await sendEvent(stream, 'closed', { conversation_id: closed.id, closed_at: closed.closedAt });
  return { ...told, typing: until, closed: closed?.id ?? told.closed };
}

const sendEvent = ({ response, ended }: ChatStream, event: string, data: unknown) =>
  writeInTurn(response, `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`, ended);

/** How long to wait after a rate limit has refused. @throws any other error */
function waitMsOf(refusal: unknown): number {
  if (!(refusal instanceof AppError)) throw refusal;
  return (refusal.details.retryAfterSeconds ?? 0) * 1000;
}
