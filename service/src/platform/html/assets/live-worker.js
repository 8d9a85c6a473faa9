// A shared worker: one stream for all pages that a member has open in a browser. Over HTTP/1.1 a
// browser has six connections to a host, so that a stream for each page would leave none.
import { followChanges, readPosition } from './live-connection.js';

/** How many changed topics are remembered for pages that come later. */
const MAX_REMEMBERED = 1000;

const pages = new Set();
let connection = null;
let state = 'connecting';

/** By topic, the one that changed longest ago first. */
const changes = new Map();
/** Whose feed it is, and from where on its changes are known. */
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

const TELLS = {
  /** A page is open that shows what was known at a position. */
  hello(page, { position }) {
    pages.add(page);
    if (connection === null) connect(position);
    else page.postMessage({ state, known, changes: [...changes.values()] });
    if (state === 'signed-out') connection.retryNow();
  },
  /** The network is back, or somebody looks at the page again. */
  retry: () => connection?.retryNow(),
  bye: (page) => pages.delete(page),
};

addEventListener('connect', ({ ports: [page] }) => {
  page.onmessage = ({ data }) => TELLS[data.what](page, data);
});
