// Says on the page when the service cannot be reached, and when the session has ended.
import { endableWait } from './streams.js';

const SAID = {
  offline: 'You are offline. This page continues when you are back online. What you write is kept.',
  down: 'The service cannot be reached. Trying again. What you write is kept.',
  stale: 'This page does not update by itself at the moment. Trying again.',
  'signed-out': 'Your session has ended. What you have written is kept.',
};
const PROBE_MS = 10_000;
const MAX_WAIT_MS = 10_000;

/** The stream's state; it begins as good. */
let stream = 'open';
let isChecking = false;
const { wait, end: endWait } = endableWait();

const banner = document.createElement('div');
banner.id = 'connection-lost';
banner.className = 'connection';
banner.setAttribute('role', 'status');

function show(state) {
  if (!banner.isConnected) document.body.append(banner);
  if (banner.dataset.state === state) return;
  banner.dataset.state = state;
  banner.textContent = SAID[state] ?? '';
  if (state === 'signed-out') banner.append(' ', signInLink());
}

const signInAddress = () =>
  `/sign-in?${new URLSearchParams({
    next: location.pathname + location.search,
    notice: 'session-ended',
  })}`;

function signInLink() {
  const link = document.createElement('a');
  link.href = signInAddress();
  link.textContent = 'Sign in';
  link.setAttribute('hx-boost', 'false');
  return link;
}

const isReachable = () =>
  fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Asks until the service answers and the device is online: one answer may have been on its way when
 * the network went.
 */
async function check() {
  if (isChecking) return;
  isChecking = true;
  for (let tries = 0; ; tries++) {
    const answers = await isReachable();
    if (answers) showReached();
    else show(navigator.onLine ? 'down' : 'offline');
    if (answers && navigator.onLine) break;
    await wait(Math.min(MAX_WAIT_MS, 1000 * 2 ** tries));
  }
  isChecking = false;
}

function showReached() {
  const wasAway = banner.dataset.state === 'offline' || banner.dataset.state === 'down';
  show(STATES_OF_STREAM[stream]);
  if (wasAway) document.dispatchEvent(new Event('live:reached'));
}
const STATES_OF_STREAM = { open: '', lost: 'stale', 'signed-out': 'signed-out' };

const isWriting = () =>
  [...document.querySelectorAll('textarea, input:not([type=hidden])')].some(
    ({ value, defaultValue }) => value !== defaultValue,
  );

document.addEventListener('live:state', ({ detail }) => {
  stream = detail;
  if (stream === 'lost') return void check();
  // Nobody reads on after the end of their session, but nobody is torn from a text either.
  if (stream === 'signed-out' && !isWriting()) return location.assign(signInAddress());
  if (!isChecking) show(STATES_OF_STREAM[stream]);
  else endWait();
});
addEventListener('offline', check);
addEventListener('online', () => (isChecking ? endWait() : check()));
document.addEventListener('visibilitychange', () => document.hidden || endWait());
document.addEventListener('htmx:sendError', check);
document.addEventListener('htmx:timeout', check);
// Another page has come in place of the body.
document.addEventListener('htmx:afterSwap', () => {
  if (!banner.isConnected) document.body.append(banner);
});
