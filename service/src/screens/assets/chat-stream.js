// The conversation as it goes on: server-sent events read by fetch, since the token must not stand in an address.
import { refusalOf } from './chat-api.js';

/** The service beats every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000;
/** After a sleep, a connection that has been silent for so long is not waited for. */
const DOUBTFUL_MS = 20_000;
const LONGEST_WAIT_MS = 30_000;
/** A connection that lasted so long was a good one: the next wait is the shortest again. */
const GOOD_AFTER_MS = 5000;

/** Half of it to all of it: visitors must not all come back at once. */
const about = (ms) => ms * (0.5 + Math.random() / 2);

/** How long to wait before the next try: twice as long each time. */
export const waitBefore = (failures) => about(Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures));

/**
 * Follows a visitor's messages until it is stopped; connects again by itself.
 * @param onMessage gets each message
 * @param onState gets `open` or `lost`
 * @param onUnknown the service does not know the token
 * @returns the way to stop, and to try at once
 */
export function followMessages({ token, lastId, onMessage, onState, onUnknown }) {
  let stopped = false;
  let failures = 0;
  let attempt = new AbortController();
  let endWait = () => {};
  let heardAt = 0;

  /** @returns how long the service asks to wait, when it ended the stream in order */
  async function readOnce() {
    let retryMs = 0;
    attempt = new AbortController();
    heardAt = Date.now();
    let watchdog = setTimeout(() => attempt.abort(), SILENCE_MS);
    let openedAt = null;
    try {
      const headers = { Authorization: `Bearer ${token}`, ...(lastId === null ? {} : { 'Last-Event-ID': lastId }) };
      const response = await fetch('/api/chat/stream', { headers, signal: attempt.signal, cache: 'no-store' });
      if (!response.ok) throw await refusalOf(response);
      openedAt = heardAt = Date.now();
      onState('open');
      const parse = eventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return retryMs;
        heardAt = Date.now();
        clearTimeout(watchdog);
        watchdog = setTimeout(() => attempt.abort(), SILENCE_MS);
        for (const { id, data, retry } of parse(value)) {
          if (retry !== undefined) retryMs = Number(retry);
          if (data === '') continue;
          onMessage(JSON.parse(data));
          lastId = id;
        }
      }
    } finally {
      clearTimeout(watchdog);
      failures = openedAt !== null && Date.now() - openedAt > GOOD_AFTER_MS ? 0 : failures + 1;
    }
  }

  async function run() {
    while (!stopped) {
      let waitMs = null;
      try {
        waitMs = Math.max(about(await readOnce()), waitBefore(failures));
      } catch (error) {
        if (stopped) return;
        if (error.status === 401) {
          stop();
          onUnknown();
          return;
        }
        waitMs = error.retryAfterMs ?? null;
      }
      if (stopped) return;
      onState('lost');
      await wait(waitMs ?? waitBefore(failures));
    }
  }

  const wait = (ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const retryNow = () => {
    failures = 0;
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

/** Takes a stream's text in pieces; gives each event once it is whole. */
export function eventParser() {
  let rest = '';
  return (piece) => {
    const blocks = (rest + piece).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    return blocks.map(readBlock);
  };
}

function readBlock(block) {
  const fields = block.split(/\r?\n/).map((line) => /^([a-z]+): ?(.*)$/.exec(line) ?? []);
  const valuesOf = (name) => fields.filter(([, field]) => field === name).map(([, , value]) => value);
  return { id: valuesOf('id').at(-1), data: valuesOf('data').join('\n'), retry: valuesOf('retry').at(-1) };
}
