import { LIVE_EVENTS, type LiveEvent } from '../../platform/html/liveSection.ts';
import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { atBound } from '../../platform/http/server/atBound.ts';
import { beat, beginEvents, endSoon } from '../../platform/http/eventStream.ts';
import { OpenStreams, type StreamLimits } from '../../platform/http/server/openStreams.ts';
import { findSession } from '../../team/operations/sessions.ts';
import type { Change } from '../../store/store.ts';
import { sessionToken, signedInOf } from '../../team/signedIn.ts';
import type { ServiceStore } from '../../store/collections.ts';
import { KeyedListeners } from '../../platform/http/keyedListeners.ts';

const BEAT_MS = 15_000;
const RETRY_MS = 1000;
/** For a page whose stream made room for a newer one: two pages must not end each other's streams. */
const REPLACED_RETRY_MS = 60_000;
const FULL_RETRY_MS = 30_000;
/** A member has one stream for each tab. The total leaves room for the customers' streams. */
const TEAM_STREAMS: StreamLimits = { perOwner: 20, perAddress: Infinity, inAll: 2000 };
/** Changes within this time are sent as one event. */
const GATHER_MS = 150;

/** Tells the team's open pages what changes in their workspace. All pages share one change feed. */
export interface LiveFeed {
  /**
   * @param listener gets each change, or null when changes were missed and everything has to load
   * @returns a function that stops listening
   */
  listen(workspaceId: string, listener: (change: Change | null) => void): () => void;
}

/** @param signal ends the feed */
export function followWorkspaces(store: ServiceStore, signal: AbortSignal): LiveFeed {
  const listeners = new KeyedListeners<Change | null>();
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) listeners.tellAll(null);
      // A removed document no longer has a workspace. Listeners only learn that a list may have changed.
      else if (change.document === null) listeners.tellAll(change as Change);
      else {
        const { workspaceId } = change.document as { workspaceId?: string };
        if (workspaceId !== undefined) listeners.tell(workspaceId, change as Change);
      }
    }
  })();
  return listeners;
}

/**
 * Server-sent events that tell a page what to reload, without its content. `thread` is the
 * conversation in `?conversation=`; the others are those of the whole workspace.
 * @param signal ends all streams
 * @throws unavailable (503) when too many streams are open
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
        'Too many pages are open. They no longer update by themselves.',
        { code: 'unavailable', retryAfterMs: FULL_RETRY_MS },
      );
    beginEvents(request, response, RETRY_MS);

    const pending = new Set<LiveEvent>();
    let timer: NodeJS.Timeout | undefined;
    const flush = () => {
      timer = undefined;
      // A slow reader gets the rest once it has read what was sent before.
      if (response.writableEnded || response.writableNeedDrain) return;
      for (const name of pending) response.write(`event: ${name}\ndata: changed\n\n`);
      pending.clear();
    };
    response.on('drain', () => (timer ??= setTimeout(flush, GATHER_MS)));
    const stopListening = feed.listen(workspace.id, (change) => {
      for (const name of change === null ? LIVE_EVENTS : eventsOf(change, conversationId))
        pending.add(name);
      if (pending.size > 0) timer ??= setTimeout(flush, GATHER_MS);
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
  });
  return router;
}

/** While the store is unavailable, the session counts as valid. */
const isStillSignedIn = (deps: Pick<Deps, 'store' | 'clock'>, token: string): Promise<boolean> =>
  findSession(deps, token).then(
    (session) => session !== null,
    () => true,
  );

function eventsOf(
  { collection, id, document }: Change,
  conversationId: string | null,
): readonly LiveEvent[] {
  const isInThread =
    conversationId !== null &&
    (document as { conversationId?: string } | null)?.conversationId === conversationId;
  const thread: readonly LiveEvent[] = isInThread ? ['thread'] : [];
  switch (collection) {
    case 'conversations':
      return id === conversationId ? ['conversations', 'thread'] : ['conversations'];
    case 'messages':
    case 'systemNotes':
      return thread;
    case 'toolCalls':
      return [...thread, 'tools', 'waiting'];
    case 'waits':
      return [...thread, 'waiting'];
    case 'tools':
      return ['tools'];
    case 'agentSettings':
    case 'agentWebhooks':
    case 'agentTestWebhooks':
    case 'webhookTurns':
      return ['agent'];
    case 'channels':
      // Each inbound message changes its channel. A thread only needs to know when it is removed.
      return document === null ? ['channels', 'thread'] : ['channels'];
    case 'payments':
      return [...thread, 'payments'];
    case 'paymentAccounts':
      return ['payments'];
    case 'deliveries':
    case 'subscriptions':
    case 'apiKeys':
    case 'contactReveals':
      return ['keys'];
    default:
      return [];
  }
}
