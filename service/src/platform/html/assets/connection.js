// Says on the page when the service cannot be reached, and when the session has ended.
import { endableWait } from './streams.js';

const TEXTS = {
  offline: 'You are offline. This page continues when you are back online. What you write is kept.',
  down: 'The service cannot be reached. Trying again. What you write is kept.',
  stale: 'This page does not update by itself at the moment. Trying again.',
  'signed-out': 'Your session has ended. What you have written is kept.',
};
const PROBE_MS = 10_000;
const MAX_WAIT_MS = 10_000;

/** The state of the live stream: `open`, `lost` or `signed-out`. */
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
  banner.textContent = TEXTS[state] ?? '';
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
 * Asks until the service answers while the device is online: an answer may still arrive after the
 * network has gone.
 */
async function check() {
  if (isChecking) return;
  isChecking = true;
  for (let tries = 0; ; tries++) {
    const isReached = await isReachable();
    if (isReached) showReached();
    else show(navigator.onLine ? 'down' : 'offline');
    if (isReached && navigator.onLine) break;
    await wait(Math.min(MAX_WAIT_MS, 1000 * 2 ** tries));
  }
  isChecking = false;
}

function showReached() {
  const wasAway = banner.dataset.state === 'offline' || banner.dataset.state === 'down';
  show(BANNER_STATES[stream]);
  if (wasAway) document.dispatchEvent(new Event('live:reached'));
}
const BANNER_STATES = { open: '', lost: 'stale', 'signed-out': 'signed-out' };

const isWriting = () =>
  [...document.querySelectorAll('textarea, input:not([type=hidden])')].some(
    ({ value, defaultValue }) => value !== defaultValue,
  );

document.addEventListener('live:state', ({ detail }) => {
  stream = detail;
  if (stream === 'lost') return void check();
  // After the end of a session, the page does not stay, unless its reader is writing.
  if (stream === 'signed-out' && !isWriting()) return location.assign(signInAddress());
  if (!isChecking) show(BANNER_STATES[stream]);
  else endWait();
});
addEventListener('offline', check);
addEventListener('online', () => (isChecking ? endWait() : check()));
document.addEventListener('visibilitychange', () => document.hidden || endWait());
document.addEventListener('htmx:sendError', check);
document.addEventListener('htmx:timeout', check);
// A new page replaces the body, and the banner with it.
document.addEventListener('htmx:afterSwap', () => {
  if (!banner.isConnected) document.body.append(banner);
});
