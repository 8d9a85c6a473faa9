import { Router, type RequestHandler } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { errorAtBound } from '../../platform/http/server/errorAtBound.ts';
import { beat, beginEvents, endSoon } from '../../platform/http/eventStream.ts';
import { OpenStreams, type StreamLimits } from '../../platform/http/server/openStreams.ts';
import { findSession } from '../../team/operations/sessions.ts';
import { sessionToken, signedInOf } from '../../team/signedIn.ts';
import { concerns, type LiveChange, type LiveFeed, type LiveTopic } from './liveFeed.ts';

const BEAT_MS = 15_000;
const RETRY_MS = 1000;
/** For a page whose stream made room for a newer one: two pages must not end each other's streams. */
const REPLACED_RETRY_MS = 60_000;
const FULL_RETRY_MS = 30_000;
/**
 * A member has one stream in each browser that shares it among its tabs, and one for each visible
 * tab elsewhere. The total leaves room for the customers' streams.
 */
const TEAM_STREAMS: StreamLimits = { perOwner: 20, perAddress: Infinity, inAll: 2000 };
export const openTeamStreams = (): OpenStreams => new OpenStreams(TEAM_STREAMS);
/**
 * All pages together load at most one part in this time, however much changes: between two loads, a
 * page waits this long for each open stream.
 */
const LOAD_EVERY_MS = 25;
/** Changes within this time are sent as one event. */
const GATHER_MS = 150;
/** Above this number of pending topics, the reader is told that every thread may have changed. */
const MAX_PENDING = 200;

/**
 * Each page, and each part of a page, says how new it is, so that it is not loaded again for a
 * change that it already shows. It also says how many milliseconds to wait before a part is loaded.
 */
export const noteLivePosition =
  (feed: LiveFeed, streams: OpenStreams): RequestHandler =>
  (_request, response, next) => {
    const livePosition = feed.position;
    response.locals.signedIn = { ...signedInOf(response), livePosition };
    response.set({
      'Live-Position': livePosition,
      'Live-Pause': String(streams.count * LOAD_EVERY_MS),
    });
    next();
  };

/**
 * Server-sent events that tell a browser's pages what to reload, without the content. An event is
 * named by what changed; the data of `thread`, `presence` and `assigned` is the conversation's id, or
 * `*` for all. The event's id is its position in the feed. With `?since=` a position, the stream
 * begins with what has changed since.
 * @param signal ends all streams
 * @throws unavailable (503) when too many streams are open
 */
export function liveStreamRouter(
  deps: Pick<Deps, 'store' | 'clock' | 'bounds'>,
  feed: LiveFeed,
  streams: OpenStreams,
  signal: AbortSignal,
): Router {
  const router = Router();
  router.get('/live', (request, response, next) => {
    // A stream for HEAD would never end: nothing is written that could show that its reader is gone.
    if (request.method === 'HEAD') return next();
    const { workspace, member } = signedInOf(response);
    const token = sessionToken(request);
    const { since } = request.query;
    const leave = streams.enter({ owner: member.id, address: '', workspace: workspace.id }, () => {
      response.write(`retry: ${REPLACED_RETRY_MS}\n\n`);
      stop();
    });
    if (typeof leave === 'string')
      throw errorAtBound(
        deps.bounds,
        'team_streams',
        'Too many pages are open. They no longer update by themselves.',
        { code: 'unavailable', retryAfterMs: FULL_RETRY_MS },
      );
    beginEvents(request, response, RETRY_MS);

    const pending = new Map<LiveTopic, number>();
    let timer: NodeJS.Timeout | undefined;
    const flush = () => {
      timer = undefined;
      // A slow reader gets the rest once it has read what was sent before.
      if (response.writableEnded || response.writableNeedDrain) return;
      const changes = [...pending].map(([topic, at]) => ({ topic, at }));
      pending.clear();
      for (const change of changes.toSorted((a, b) => a.at - b.at))
        response.write(eventText(feed, change));
    };
    const add = (changes: readonly LiveChange[]) => {
      for (const { topic, at } of changes) if (concerns(topic, member.id)) pending.set(topic, at);
      if (pending.size > MAX_PENDING) joinThreads(pending);
    };
    response.on('drain', () => (timer ??= setTimeout(flush, GATHER_MS)));
    if (typeof since === 'string') add(feed.since(workspace.id, since));
    flush();
    // The reader now knows where it stands, also when nothing has changed.
    response.write(`id: ${feed.position}\nevent: open\ndata: open\n\n`);
    const stopListening = feed.listen(workspace.id, (changes) => {
      add(changes);
      timer ??= setTimeout(flush, GATHER_MS);
    });
    const stopBeating = beat(response, BEAT_MS);
    const checking = setInterval(async () => {
      if (token === null || !(await isStillSignedIn(deps, token))) stop();
    }, BEAT_MS);
    const stop = () => {
      leave();
      stopListening();
      stopBeating();
      clearInterval(checking);
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      endSoon(response);
    };
    response.on('close', stop);
    signal.addEventListener('abort', stop);
    // The reader has gone, or the service has begun to stop, while the session was looked up.
    if (response.closed || signal.aborted) stop();
  });
  return router;
}

function joinThreads(pending: Map<LiveTopic, number>): void {
  const latest = Math.max(...pending.values());
  for (const topic of [...pending.keys()]) if (topic.startsWith('thread')) pending.delete(topic);
  pending.set('thread', latest);
}

function eventText(feed: LiveFeed, { topic, at }: LiveChange): string {
  const [event, conversationId = '*'] = topic.split(':') as [string, string?];
  return `id: ${feed.positionAt(at)}\nevent: ${event}\ndata: ${conversationId}\n\n`;
}

/** While the store is unavailable, the session counts as valid. */
const isStillSignedIn = (deps: Pick<Deps, 'store' | 'clock'>, token: string): Promise<boolean> =>
  findSession(deps, token).then(
    (session) => session !== null,
    () => true,
  );
