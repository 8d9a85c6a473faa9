// The stream of what changes in a workspace. It connects again by itself, and goes on where it was.
import { about, endableWait, eventsIn, waitAfter, watchdog } from './streams.js';

/** A position in the feed of one process of the service: `k3f9-x_A.120`. */
export const readPosition = (text) => {
  const [, process = '', at = ''] = /^([\w-]+)\.(\d+)$/.exec(text ?? '') ?? [];
  return { process, at: Number(at) };
};

/**
 * Follows the changes until it is stopped.
 * @param since the position after which changes are reported
 * @param onChange gets `{ topic, process, at }`; a topic is an event, such as `tools`, or the event
 * of a conversation, such as `thread:<conversation>`
 * @param onState gets `open`; `lost` when an attempt to connect failed; `signed-out`
 * @returns `stop`, and `retryNow`, which ends the wait for the next attempt
 */
export function followChanges({ since, onChange, onState }) {
  let isStopped = false;
  let position = since;
  let failures = 0;
  let attempt = new AbortController();
  const { wait, end: endWait } = endableWait();

  /** @returns how long the service asks to wait, in ms; null when the session has ended */
  async function readOnce() {
    attempt = new AbortController();
    const { heard, stop: stopWatching } = watchdog(attempt);
    try {
      const response = await fetch(`/live?since=${encodeURIComponent(position)}`, {
        signal: attempt.signal,
        cache: 'no-store',
        redirect: 'manual',
      });
      if (response.type === 'opaqueredirect') return null;
      if (!response.ok) throw new Error(`answered ${response.status}`);
      let retryMs = 0;
      for await (const { event, id, data, retry } of eventsIn(response)) {
        heard();
        if (retry !== undefined) retryMs = Number(retry);
        if (event === undefined) continue;
        position = id;
        if (event !== 'open') onChange({ topic: topicOf(event, data), ...readPosition(id) });
        else {
          failures = 0;
          onState('open');
        }
      }
      return retryMs;
    } finally {
      stopWatching();
    }
  }

  async function run() {
    while (!isStopped) {
      let waitMs;
      try {
        const retryMs = await readOnce();
        if (retryMs === null) {
          onState('signed-out');
          // until somebody has signed in
          waitMs = Infinity;
        } else waitMs = about(retryMs);
      } catch {
        if (isStopped) return;
        onState('lost');
        waitMs = waitAfter(++failures);
      }
      await wait(waitMs);
    }
  }

  void run();
  return {
    stop() {
      isStopped = true;
      attempt.abort();
      endWait();
    },
    retryNow() {
      failures = 0;
      endWait();
    },
  };
}

const topicOf = (event, data) => (data === '*' ? event : `${event}:${data}`);
