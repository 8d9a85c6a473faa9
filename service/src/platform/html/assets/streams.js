// What the connections of a page have in common: server-sent events that are read by fetch, and waits.

/** The service beats every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000;
const MAX_WAIT_MS = 30_000;

/** Half of it to all of it: browsers must not all come back at once. */
export const about = (ms) => ms * (0.5 + Math.random() / 2);

/** How long to wait before the next try: twice as long each time. */
export const waitBefore = (failures) => about(Math.min(MAX_WAIT_MS, 500 * 2 ** failures));

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

/** Aborts an attempt when nothing is heard for too long. @returns `heard`, and `stop` */
export function watchdog(attempt) {
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => attempt.abort(), SILENCE_MS);
  };
  heard();
  return { heard, stop: () => clearTimeout(timer) };
}

/** A stream's events, each once it is whole. A beat comes as an event without data. */
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
