// A shared worker: one stream for all pages that a member has open in a browser. Over HTTP/1.1 a
// browser has six connections to a host: one stream per page would soon take all of them.
import { followChanges, readPosition } from './live-connection.js';

/** How many changed topics are remembered for pages that open later. */
const MAX_REMEMBERED = 1000;

const pages = new Set();
let connection = null;
let state = 'connecting';

/** The last change of each topic, the oldest first. */
const changes = new Map();
/** The process that sends the changes, and a position: `changes` has every topic that changed after it. */
let known = { process: '', at: 0 };

function remember(change) {
  if (change.process !== known.process) {
    changes.clear();
    known = { process: change.process, at: change.at };
  }
  changes.delete(change.topic);
  changes.set(change.topic, change);
  if (changes.size <= MAX_REMEMBERED) return;
  const [oldest] = changes.values();
  changes.delete(oldest.topic);
  known.at = oldest.at;
}

const tellAll = (message) => pages.forEach((page) => page.postMessage(message));

function connect(since) {
  known = readPosition(since);
  connection = followChanges({
    since,
    onChange(change) {
      remember(change);
      tellAll({ changes: [change] });
    },
    onState(next) {
      state = next;
      tellAll({ state });
    },
  });
}

const HANDLERS = {
  /** A page has opened. What it shows is as new as `position`. */
  hello(page, { position }) {
    pages.add(page);
    if (connection === null) connect(position);
    else page.postMessage({ state, known, changes: [...changes.values()] });
    if (state === 'signed-out') connection.retryNow();
  },
  /** The network is back, or the page is visible again. */
  retry: () => connection?.retryNow(),
  bye: (page) => pages.delete(page),
};

addEventListener('connect', ({ ports: [page] }) => {
  page.onmessage = ({ data }) => HANDLERS[data.what](page, data);
});
