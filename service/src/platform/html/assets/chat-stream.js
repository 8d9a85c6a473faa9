// The conversation as it goes on: server-sent events read by fetch, since the token must not be in
// an address.
import { history, refusalOf } from './chat-api.js';
import { about, endableWait, eventsIn, waitAfter, watchdog } from './streams.js';

/** After a sleep of the device, a connection that was silent for longer than this is given up. */
const DOUBTFUL_MS = 20_000;
/** After a connection that lasted longer than this, the next wait is the shortest again. */
const GOOD_AFTER_MS = 5000;

/** How often a page without a stream asks for messages: less often when nobody looks at it. */
const POLL_MS = 4000;
const HIDDEN_POLL_MS = 20_000;

/** A random time from `ms` to half as much again, so that browsers do not all come at once. */
const later = (ms) => ms * (1 + Math.random() / 2);

/**
 * Follows a visitor's messages until it is stopped, and connects again by itself. While the service
 * has no stream to spare, it asks for messages every few seconds, and tries the stream again when
 * the service allows it.
 * @param onMessage gets each message
 * @param onTyping gets for how many seconds to show that somebody types; 0 when nobody does
 * @param onClosed gets the id of the newest conversation, once it is closed
 * @param onState gets `open` or `lost`
 * @param onUnknown is called when the service does not know the token
 * @returns `stop`, and `retryNow`, which ends the wait for the next attempt
 */
export function followMessages({
  token,
  lastId,
  onMessage,
  onTyping,
  onClosed,
  onState,
  onUnknown,
}) {
  let stopped = false;
  let failures = 0;
  let attempt = new AbortController();
  const { wait, end: endWait } = endableWait();
  let heardAt = 0;
  let retryStreamAt = 0;

  /** @returns how long the service asks to wait, in ms, once it has ended the stream in order */
  async function readOnce() {
    let retryMs = 0;
    attempt = new AbortController();
    heardAt = Date.now();
    const { heard, stop: stopWatching } = watchdog(attempt);
    let openedAt = null;
    try {
      const headers = {
        Authorization: `Bearer ${token}`,
        ...(lastId === null ? {} : { 'Last-Event-ID': lastId }),
      };
      const response = await fetch('/api/chat/stream', {
        headers,
        signal: attempt.signal,
        cache: 'no-store',
      });
      if (!response.ok) throw await refusalOf(response);
      openedAt = heardAt = Date.now();
      onState('open');
      for await (const { event, id, data, retry } of eventsIn(response)) {
        heardAt = Date.now();
        heard();
        if (retry !== undefined) retryMs = Number(retry);
        if (data === '') continue;
        if (event === 'typing') onTyping(JSON.parse(data).seconds);
        if (event === 'closed') onClosed(JSON.parse(data).conversation_id);
        if (event !== 'message') continue;
        onMessage(JSON.parse(data));
        lastId = id;
      }
      return retryMs;
    } finally {
      stopWatching();
      onTyping(0);
      failures = openedAt !== null && Date.now() - openedAt > GOOD_AFTER_MS ? 0 : failures + 1;
    }
  }

  /**
   * Asks for messages until the stream may be tried again.
   * @returns 0, or how long to wait, in ms, when asking fails too
   */
  async function poll(forMs) {
    retryStreamAt = Date.now() + forMs;
    do {
      let pauseMs = about(document.visibilityState === 'hidden' ? HIDDEN_POLL_MS : POLL_MS);
      try {
        for await (const message of history(token, lastId)) {
          if (stopped) return 0;
          onMessage(message);
          lastId = message.id;
        }
        heardAt = Date.now();
        onState('open');
      } catch (error) {
        if (error.status === 401) throw error;
        if (error.status !== 429) return error.retryAfterMs ?? waitAfter(failures++);
        pauseMs = error.retryAfterMs ?? pauseMs;
      }
      if (!stopped) await wait(Math.min(pauseMs, Math.max(0, retryStreamAt - Date.now())));
    } while (!stopped && Date.now() < retryStreamAt);
    return 0;
  }

  async function run() {
    while (!stopped) {
      try {
        let hasNoStream = false;
        let waitMs;
        try {
          const retryMs = await readOnce();
          hasNoStream = retryMs > POLL_MS;
          waitMs = Math.max(about(retryMs), waitAfter(failures));
        } catch (error) {
          if (error.status === 401) throw error;
          hasNoStream = error.status !== undefined;
          waitMs = error.retryAfterMs ?? waitAfter(failures);
        }
        if (hasNoStream && !stopped) waitMs = await poll(later(waitMs));
        if (stopped) return;
        if (waitMs === 0) continue;
        onState('lost');
        await wait(waitMs);
      } catch (error) {
        if (stopped) return;
        stop();
        if (error.status === 401) onUnknown();
        else throw error;
      }
    }
  }

  const retryNow = () => {
    failures = 0;
    retryStreamAt = 0;
    endWait();
  };
  const lookAfterSleep = () => {
    if (document.visibilityState === 'hidden') return;
    if (Date.now() - heardAt > DOUBTFUL_MS) attempt.abort();
    retryNow();
  };
  const loseNow = () => attempt.abort();
  const listeners = [
    [window, 'online', retryNow],
    [window, 'offline', loseNow],
    [window, 'pageshow', lookAfterSleep],
    [document, 'visibilitychange', lookAfterSleep],
  ];
  for (const [target, name, listener] of listeners) target.addEventListener(name, listener);

  function stop() {
    stopped = true;
    attempt.abort();
    endWait();
    for (const [target, name, listener] of listeners) target.removeEventListener(name, listener);
  }

  void run();
  return { stop, retryNow };
}
