// What the connections of a page share: server-sent events that are read by fetch, and waits.

/** A connection that is silent for this long is dead: the service sends a beat every 15 seconds. */
const SILENCE_MS = 40_000;
const MAX_WAIT_MS = 30_000;

/** A random time from half of `ms` to all of it, so that browsers do not all reconnect at once. */
export const about = (ms) => ms * (0.5 + Math.random() / 2);

/** How long to wait after this many failures, in ms: about twice as long each time. */
export const waitAfter = (failures) => about(Math.min(MAX_WAIT_MS, 500 * 2 ** failures));

/** @returns `wait`, and `end`, which ends the wait early */
export function endableWait() {
  let end = () => {};
  const wait = (ms) =>
    new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return { wait, end: () => end() };
}

/** Aborts a silent attempt. @returns `heard`, to call whenever something arrives, and `stop` */
export function watchdog(attempt) {
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => attempt.abort(), SILENCE_MS);
  };
  heard();
  return { heard, stop: () => clearTimeout(timer) };
}

/** The events of a stream, each as soon as it is complete. A beat is an event without data. */
export async function* eventsIn({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    yield* blocks.map(readBlock);
  }
}

function readBlock(block) {
  const fields = block.split(/\r?\n/).map((line) => /^([a-z]+): ?(.*)$/.exec(line) ?? []);
  const valuesOf = (name) =>
    fields.filter(([, field]) => field === name).map(([, , value]) => value);
  return {
    event: valuesOf('event').at(-1),
    id: valuesOf('id').at(-1),
    data: valuesOf('data').join('\n'),
    retry: valuesOf('retry').at(-1),
  };
}
