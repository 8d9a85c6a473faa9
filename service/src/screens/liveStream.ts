import { Router } from 'express';
import type { Deps } from '../domain/deps.ts';
import { findSession } from '../domain/operations/findSession.ts';
import type { Payment } from '../domain/payment.ts';
import type { ToolCall } from '../domain/toolCall.ts';
import type { Change } from '../store/store.ts';
import type { LiveFeed } from './liveFeed.ts';
import { sessionToken, signedInOf } from './session.ts';

const BEAT_MS = 15_000;
/** Many changes in a row are said once. */
const GATHER_MS = 150;

/** What a page can listen to, by `hx-trigger="sse:<name>"`. */
type LiveName = 'conversations' | 'thread' | 'tools' | 'channels' | 'payments' | 'keys';

/**
 * Server-sent events that say what to load again, never what it holds: `conversations` (any of the
 * workspace), `thread` (the one in `?conversation=`), `tools`, `channels`, `payments`,
 * `keys`.
 * @param signal ends all streams
 */
export function liveStreamRouter(deps: Pick<Deps, 'store' | 'clock'>, feed: LiveFeed, signal: AbortSignal): Router {
  const router = Router();
  router.get('/live', (request, response) => {
    const { workspace } = signedInOf(response);
    const token = sessionToken(request);
    const conversationId = typeof request.query.conversation === 'string' ? request.query.conversation : null;
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    response.write('retry: 1000\n\n');

    const pending = new Set<LiveName>();
    let timer: NodeJS.Timeout | undefined;
    const flush = () => {
      timer = undefined;
      for (const name of pending) response.write(`event: ${name}\ndata: changed\n\n`);
      pending.clear();
    };
    const stopListening = feed.listen(workspace.id, (change) => {
      for (const name of change === null ? ALL : namesOf(change, conversationId)) pending.add(name);
      if (pending.size > 0) timer ??= setTimeout(flush, GATHER_MS);
    });
    const beat = setInterval(async () => {
      if (token !== null && (await isStillSignedIn(deps, token))) response.write(': beat\n\n');
      else stop(); // signed out or removed meanwhile
    }, BEAT_MS);
    const stop = () => {
      stopListening();
      clearInterval(beat);
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      response.end();
    };
    request.on('close', stop);
    signal.addEventListener('abort', stop);
  });
  return router;
}

/** While the store cannot be asked, who was signed in still is. */
const isStillSignedIn = (deps: Pick<Deps, 'store' | 'clock'>, token: string): Promise<boolean> => findSession(deps, token).then((session) => session !== null, () => true);

const ALL: readonly LiveName[] = ['conversations', 'thread', 'tools', 'channels', 'payments', 'keys'];

function namesOf({ collection, id, document }: Change, conversationId: string | null): readonly LiveName[] {
  switch (collection) {
    case 'conversations':
      return id === conversationId ? ['conversations', 'thread'] : ['conversations'];
    case 'messages':
      return (document as { conversationId?: string } | null)?.conversationId === conversationId ? ['thread'] : [];
    case 'toolCalls':
      return (document as ToolCall | null)?.conversationId === conversationId && conversationId !== null ? ['thread', 'tools'] : ['tools'];
    case 'tools':
      return ['tools'];
    case 'channels':
      // Whatever comes in changes its channel; a thread has to know only when one is gone.
      return document === null ? ['channels', 'thread'] : ['channels'];
    case 'payments':
      return (document as Payment | null)?.conversationId === conversationId && conversationId !== null ? ['thread', 'payments'] : ['payments'];
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
