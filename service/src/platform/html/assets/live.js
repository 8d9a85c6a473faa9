// The live parts of a page load again when something has changed, and retry until they succeed.
import { followChanges, readPosition } from './live-connection.js';
import { waitAfter } from './streams.js';

const page = () => document.getElementById('live-page');
const parts = () => document.querySelectorAll('[hx-trigger*="live:"]');
const isPart = (element) => element.matches?.('[hx-trigger*="live:"]') ?? false;
const eventOf = (part) => /live:(\w+)/.exec(part.getAttribute('hx-trigger'))[1];

/** Whether a part listens to a topic: of the conversations, only to the one that the page shows. */
function hears(part, topic) {
  const event = eventOf(part);
  const [changed, conversation] = topic.split(':');
  if (changed !== event || conversation === undefined) return changed === event;
  return conversation === part.closest('[data-conversation]')?.dataset.conversation;
}

const states = new WeakMap();
/** A part is as new as its page until it is loaded again. */
function stateOf(part) {
  if (!states.has(part))
    states.set(part, {
      position: readPosition(page()?.dataset.position),
      failures: 0,
      pausesUntil: 0,
    });
  return states.get(part);
}

export function load(part) {
  const state = stateOf(part);
  clearTimeout(state.timer);
  state.timer = undefined;
  if (state.isLoading) state.isOutdated = true;
  else htmx.trigger(part, `live:${eventOf(part)}`);
}

/** Loads a part once the pause that its last answer asked for is over. */
function loadSoon(part) {
  const state = stateOf(part);
  const wait = state.pausesUntil - performance.now();
  if (wait <= 0 || state.isLoading) return load(part);
  state.timer ??= setTimeout(() => part.isConnected && load(part), wait);
}

/** Loads the parts that are older than a change. Positions of two processes cannot be compared. */
function hear(changes) {
  for (const part of parts()) {
    const { position } = stateOf(part);
    const isNewer = ({ topic, process, at }) =>
      hears(part, topic) && (process !== position.process || at > position.at);
    if (changes.some(isNewer)) loadSoon(part);
  }
}

/** Loads the parts that are older than the oldest change that the connection remembers. */
function catchUp(known) {
  for (const part of parts()) {
    const { position } = stateOf(part);
    if (position.process !== known.process || position.at < known.at) load(part);
  }
}

document.addEventListener('htmx:beforeRequest', ({ detail: { elt } }) => {
  if (!isPart(elt)) return;
  Object.assign(stateOf(elt), { isLoading: true, page: page() });
  // Once the part is removed, its events no longer reach the document.
  elt.addEventListener('htmx:beforeOnLoad', ignoreOnceGone);
});
/**
 * Ignores an answer that arrives after its page was replaced: the new page is newer. If only the
 * part was replaced, its answer still counts for the rest of the page.
 */
function ignoreOnceGone(event) {
  const part = event.currentTarget;
  // Events of the links and forms in the part reach it too.
  if (event.target === part && stateOf(part).page !== page()) event.preventDefault();
}
document.addEventListener('htmx:afterRequest', ({ detail: { elt, xhr } }) => {
  if (!isPart(elt)) return;
  const state = stateOf(elt);
  // htmx counts error pages as successful, since the page's configuration lets it show them.
  const successful = xhr.status >= 200 && xhr.status < 400;
  state.isLoading = false;
  if (successful) {
    state.failures = 0;
    state.pausesUntil = performance.now() + Number(xhr.getResponseHeader('Live-Pause'));
    state.position = readPosition(xhr.getResponseHeader('Live-Position'));
  } else if (xhr.status === 401) tellState('signed-out');
  else if (isTemporary(xhr.status)) {
    state.timer = setTimeout(() => elt.isConnected && load(elt), waitAfter(++state.failures));
    tellState('lost');
  }
  if (!state.isOutdated) return;
  state.isOutdated = false;
  if (successful) loadSoon(elt);
});
const isTemporary = (status) => status === 0 || status === 408 || status === 429 || status >= 500;

/** When the service can be reached again, the parts that failed load at once. */
document.addEventListener('live:reached', () => {
  for (const part of parts()) if (stateOf(part).timer !== undefined) load(part);
  connection?.retry();
});

/** What loads while a page is hidden is not marked as read until somebody looks at the page. */
document.addEventListener('htmx:configRequest', ({ detail: { elt, headers } }) => {
  if (isPart(elt)) headers['Live-Part'] = 'yes';
  if (!document.hidden) return;
  headers['X-Page-Hidden'] = 'yes';
  if (isPart(elt)) stateOf(elt).isUnseen = true;
});
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  connection?.retry();
  for (const part of parts()) {
    const state = stateOf(part);
    if (state.isUnseen && eventOf(part) === 'thread') load(part);
    state.isUnseen = false;
  }
});

const tellState = (state) =>
  document.dispatchEvent(new CustomEvent('live:state', { detail: state }));

/** The last change that was told; before the first one, the position of the page. */
let told = { process: '', at: 0 };
/** Tells other scripts of each change, once, as `live:change`. */
function tellChanges(changes) {
  for (const change of changes) {
    told = change;
    document.dispatchEvent(new CustomEvent('live:change', { detail: change }));
  }
}
const isAfter = (position) => (change) =>
  change.process === position.process && change.at > position.at;

/** One connection for all pages of the browser. @throws Error if it has no shared workers */
function sharedConnection({ worker: address, member, position }) {
  const worker = new SharedWorker(address, { name: member, type: 'module' });
  worker.onerror = () => (connection = ownConnection({ position }));
  const { port } = worker;
  port.onmessage = ({ data: { state, known, changes } }) => {
    if (known) catchUp(known);
    if (changes) {
      hear(changes);
      // Most of what the connection remembers has been told already.
      tellChanges(known ? changes.filter(isAfter(told)) : changes);
    }
    if (state) tellState(state);
  };
  const tell = (what, more) => port.postMessage({ what, ...more });
  const greet = (pagePosition) => tell('hello', { position: pagePosition });
  greet(position);
  return { greet, retry: () => tell('retry'), leave: () => tell('bye') };
}

/** A browser without shared workers has a connection for each page that somebody looks at. */
function ownConnection({ position }) {
  let connection = null;
  let since = position;
  /** Changes up to here have been told already, and may come again. */
  let repeatsUpTo = told;
  const follow = () => {
    if (document.hidden || connection !== null) return;
    connection = followChanges({
      since,
      onChange(change) {
        since = `${change.process}.${change.at}`;
        hear([change]);
        if (change.process !== repeatsUpTo.process || isAfter(repeatsUpTo)(change))
          tellChanges([change]);
      },
      onState: tellState,
    });
  };
  const leave = () => {
    connection?.stop();
    connection = null;
  };
  const onVisibility = () => (document.hidden ? leave() : follow());
  document.addEventListener('visibilitychange', onVisibility);
  follow();
  return {
    greet(pagePosition) {
      leave();
      since = pagePosition;
      repeatsUpTo = told;
      follow();
    },
    retry: () => connection?.retryNow(),
    leave() {
      document.removeEventListener('visibilitychange', onVisibility);
      leave();
    },
  };
}

let connection = null;
let greeted = null;
function connect() {
  if (connection !== null || !page()) return;
  greeted = page();
  told = readPosition(page().dataset.position);
  try {
    connection = sharedConnection(page().dataset);
  } catch {
    connection = ownConnection(page().dataset);
  }
}
function leave() {
  connection?.leave();
  connection = null;
}
document.addEventListener('DOMContentLoaded', connect);
addEventListener('pageshow', connect);
addEventListener('pagehide', leave);
addEventListener('online', () => connection?.retry());
/**
 * Another page has taken this one's place. What changed while it was loading was told to the parts
 * of the former page.
 */
document.addEventListener('htmx:afterSettle', () => {
  // Somebody has signed out.
  if (!page()) return leave();
  if (page() === greeted) return;
  greeted = page();
  connection?.greet(greeted.dataset.position);
});

/**
 * A [data-live] part that loads again keeps what is half written in it, and stays as it is when
 * nothing has changed. places.js keeps open what is open.
 */
const lastAnswer = new WeakMap();
let kept = [];
document.addEventListener('htmx:beforeSwap', (event) => {
  const part = event.detail.target;
  kept = [];
  const { xhr, serverResponse: answer, requestConfig } = event.detail;
  // An error page does not replace a part.
  if (isPart(requestConfig.elt) && xhr.status !== 200)
    return void (event.detail.shouldSwap = false);
  if (!part.matches?.('[data-live]')) return;
  if (lastAnswer.get(part) === answer) return void (event.detail.shouldSwap = false);
  lastAnswer.set(part, answer);
  const isTouched = (field) =>
    field.matches('select') ? field === document.activeElement : field.value !== field.defaultValue;
  kept = [...part.querySelectorAll('input[id]:not([type=hidden]), textarea[id], select[id]')]
    .filter(isTouched)
    .map(({ id, value, selectionStart }) => ({ id, value, selectionStart }));
});
document.addEventListener('htmx:afterSwap', () => {
  for (const { id, value, selectionStart } of kept.splice(0)) {
    const element = document.getElementById(id);
    if (!element) continue;
    element.value = value;
    if (element === document.activeElement && selectionStart != null)
      element.setSelectionRange(selectionStart, selectionStart);
  }
});
