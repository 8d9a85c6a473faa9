import { Router } from 'express';
import type { Deps } from '../domain/deps.ts';
import { atBound } from '../http/atBound.ts';
import { beat, beginEvents, endSoon } from '../http/eventStream.ts';
import { OpenStreams, type StreamLimits } from '../http/openStreams.ts';
import { findSession } from '../domain/operations/findSession.ts';
import type { Payment } from '../domain/payment.ts';
import type { ToolCall } from '../domain/toolCall.ts';
import type { Change } from '../store/store.ts';
import type { LiveFeed } from './liveFeed.ts';
import { sessionToken, signedInOf } from './session.ts';

const BEAT_MS = 15_000;
const RETRY_MS = 1000;
/**
 * A page that was ended for a newer one comes back only so much later, so that two do not drive
 * each other out.
 */
const REPLACED_RETRY_MS = 60_000;
const FULL_RETRY_MS = 30_000;
/**
 * A member has one stream a tab; all teams of a process together leave room for their customers.
 */
export const TEAM_STREAMS: StreamLimits = { perOwner: 20, perAddress: Infinity, inAll: 2000 };
/** Many changes in a row are said once. */
const GATHER_MS = 150;

/** What a page can listen to, by `hx-trigger="sse:<name>"`. */
type LiveName = 'conversations' | 'thread' | 'tools' | 'channels' | 'payments' | 'keys';

/**
 * Server-sent events that say what to load again, never what it holds: `conversations` (any of the
 * workspace), `thread` (the one in `?conversation=`), `tools`, `channels`, `payments`,
 * `keys`.
 * @param signal ends all streams
 * @throws unavailable (503) when the workspace has its share of all streams
 */
export function liveStreamRouter(
  deps: Pick<Deps, 'store' | 'clock' | 'bounds'>,
  feed: LiveFeed,
  signal: AbortSignal,
  limits = TEAM_STREAMS,
): Router {
  const router = Router();
  const streams = new OpenStreams(limits);
  router.get('/live', (request, response) => {
    const { workspace, member } = signedInOf(response);
    const token = sessionToken(request);
    const conversationId =
      typeof request.query.conversation === 'string' ? request.query.conversation : null;
    const leave = streams.enter({ owner: member.id, address: '', workspace: workspace.id }, () => {
      response.write(`retry: ${REPLACED_RETRY_MS}\n\n`);
      stop();
    });
    if (typeof leave === 'string')
      throw atBound(
        deps.bounds,
        'team_streams',
        'Too many pages are open. They go on without news as it comes.',
        { code: 'unavailable', retryAfterMs: FULL_RETRY_MS },
      );
    beginEvents(request, response, RETRY_MS);

    const pending = new Set<LiveName>();
    let timer: NodeJS.Timeout | undefined;
    const flush = () => {
      timer = undefined;
      // told once it has taken what it was told before
      if (response.writableEnded || response.writableNeedDrain) return;
      for (const name of pending) response.write(`event: ${name}\ndata: changed\n\n`);
      pending.clear();
    };
    response.on('drain', () => (timer ??= setTimeout(flush, GATHER_MS)));
    const stopListening = feed.listen(workspace.id, (change) => {
      for (const name of change === null ? ALL : namesOf(change, conversationId)) pending.add(name);
      if (pending.size > 0) timer ??= setTimeout(flush, GATHER_MS);
    });
    const stopBeating = beat(response, BEAT_MS);
    const look = setInterval(async () => {
      if (token === null || !(await isStillSignedIn(deps, token))) stop(); // signed out or removed
    }, BEAT_MS);
    const stop = () => {
      leave();
      stopListening();
      stopBeating();
      clearInterval(look);
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      endSoon(response);
    };
    response.on('close', stop);
    signal.addEventListener('abort', stop);
  });
  return router;
}

/** While the store cannot be asked, who was signed in still is. */
const isStillSignedIn = (deps: Pick<Deps, 'store' | 'clock'>, token: string): Promise<boolean> =>
  findSession(deps, token).then(
    (session) => session !== null,
    () => true,
  );

const ALL: readonly LiveName[] = [
  'conversations',
  'thread',
  'tools',
  'channels',
  'payments',
  'keys',
];

function namesOf(
  { collection, id, document }: Change,
  conversationId: string | null,
): readonly LiveName[] {
  switch (collection) {
    case 'conversations':
      return id === conversationId ? ['conversations', 'thread'] : ['conversations'];
    case 'messages':
      return (document as { conversationId?: string } | null)?.conversationId === conversationId
        ? ['thread']
        : [];
    case 'toolCalls':
      return (document as ToolCall | null)?.conversationId === conversationId &&
        conversationId !== null
        ? ['thread', 'tools']
        : ['tools'];
    case 'tools':
      return ['tools'];
    case 'channels':
      // Whatever comes in changes its channel; a thread has to know only when one is gone.
      return document === null ? ['channels', 'thread'] : ['channels'];
    case 'payments':
      return (document as Payment | null)?.conversationId === conversationId &&
        conversationId !== null
        ? ['thread', 'payments']
        : ['payments'];
    case 'paymentAccounts':
      return ['payments'];
    case 'deliveries':
    case 'subscriptions':
    case 'apiKeys':
      return ['keys'];
    default:
      return [];
  }
}
