// The stream of what changes in a workspace. It connects again by itself, and goes on where it was.
import { eventParser } from './event-parser.js';

/** The service beats every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000;
const MAX_WAIT_MS = 30_000;

/** Half of it to all of it: browsers must not all come back at once. */
const about = (ms) => ms * (0.5 + Math.random() / 2);

/** How long to wait before the next try: twice as long each time. */
export const waitBefore = (failures) => about(Math.min(MAX_WAIT_MS, 500 * 2 ** failures));

/** A position in the feed of one process of the service: `k3f9-x_A.120`. */
export const readPosition = (text) => {
  const [, process = '', at = ''] = /^([\w-]+)\.(\d+)$/.exec(text ?? '') ?? [];
  return { process, at: Number(at) };
};

/**
 * Follows the changes until it is stopped.
 * @param since the position from which on changes are told
 * @param onChange gets `{ topic, process, at }`; a topic is an event, or one of a conversation, such as
 * `thread:<conversation>`
 * @param onState gets `open`; `lost` when an attempt to connect failed; `signed-out`
 * @returns the way to stop, and to try at once
 */
export function followChanges({ since, onChange, onState }) {
  let isStopped = false;
  let position = since;
  let failures = 0;
  let attempt = new AbortController();
  let endWait = () => {};

  /** @returns how long the service asks to wait */
  async function readOnce() {
    attempt = new AbortController();
    let watchdog;
    const heard = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => attempt.abort(), SILENCE_MS);
    };
    heard();
    try {
      const response = await fetch(`/live?since=${encodeURIComponent(position)}`, {
        signal: attempt.signal,
        cache: 'no-store',
        redirect: 'manual',
      });
      if (response.type === 'opaqueredirect') return null;
      if (!response.ok) throw new Error(`answered ${response.status}`);
      let retryMs = 0;
      const parse = eventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return retryMs;
        heard();
        for (const { event, id, data, retry } of parse(value)) {
          if (retry !== undefined) retryMs = Number(retry);
          if (event === undefined) continue;
          position = id;
          if (event !== 'open') onChange({ topic: topicOf(event, data), ...readPosition(id) });
          else {
            failures = 0;
            onState('open');
          }
        }
      }
    } finally {
      clearTimeout(watchdog);
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
        waitMs = waitBefore(++failures);
      }
      await wait(waitMs);
    }
  }

  const wait = (ms) =>
    new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });

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
