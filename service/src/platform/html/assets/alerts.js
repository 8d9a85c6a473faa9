// Tells a member when a customer begins to wait for an answer: by a system notification and a
// sound, once for all tabs of a browser, if the member has turned that on there. Also tells the
// member of a conversation that is assigned to them.
import { showToast } from './toasts.js';

/** Above this many customers at once, one notification gives their number. */
const MAX_SINGLE = 3;
/** Browsers allow sounds only on a page that somebody has used. Such a page goes first. */
const UNUSED_PAGE_WAITS_MS = 500;
const GATHER_MS = 150;
const RETRY_MS = 3000;
const MAX_RETRY_MS = 60_000;

const member = () => document.getElementById('live-page')?.dataset.member;
const key = () => `alerts:${member()}`;

/**
 * What this browser knows: which conversations wait (`known`), the time after which a wait is new
 * (`floor`), and the last changes that it has handled (`waiting` and `assigned`). Null when alerts
 * are off.
 */
function read() {
  try {
    return JSON.parse(localStorage.getItem(key()));
  } catch {
    return null;
  }
}
const write = (state) =>
  state === null
    ? localStorage.removeItem(key())
    : localStorage.setItem(key(), JSON.stringify(state));

/** An alert is shown even if storage is full. It may then be repeated. */
function remember(state) {
  try {
    write(state);
  } catch {
    // The next look begins from the former state.
  }
}

/** One page at a time, in browsers that have locks. */
const inTurn = (run) => (navigator.locks ? navigator.locks.request('alerts', run) : run());
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const get = async (path) => {
  const headers = { 'HX-Request': 'true' };
  const response = await fetch(path, { headers, cache: 'no-store' }).catch(() => null);
  return response?.ok ? response.json() : null;
};

/** @returns what began to wait since the last look, and what to remember; null when that fails */
async function look(former) {
  const answer = await get('/conversations/alerts');
  if (answer === null) return null;
  const { waiting, floor } = answer;
  const keyOf = ({ id, since }) => `${id} ${since}`;
  const isNew = (each) => !former.known.includes(keyOf(each)) && each.since > former.floor;
  return {
    newlyWaiting: waiting.filter(isNew),
    next: { ...former, known: waiting.map(keyOf), floor },
  };
}

let retry;
let failures = 0;

async function tellWaiting(change) {
  await pause(GATHER_MS + (navigator.userActivation?.hasBeenActive ? 0 : UNUSED_PAGE_WAITS_MS));
  await inTurn(async () => {
    const former = read();
    if (former === null || hasSeen(former.waiting, change)) return;
    const looked = await look(former);
    clearTimeout(retry);
    if (looked === null) {
      const waitMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures++);
      retry = setTimeout(tellWaiting, waitMs, change);
      return;
    }
    failures = 0;
    const { newlyWaiting, next } = looked;
    remember({ ...next, waiting: change });
    if (newlyWaiting.length === 0) return;
    sound();
    if (newlyWaiting.length > MAX_SINGLE)
      notify(
        `${newlyWaiting.length} customers are waiting for an answer`,
        '/conversations?tab=waiting',
      );
    else
      for (const { id, customer } of newlyWaiting)
        notify(`${customer} is waiting for an answer`, `/conversations/${id}`);
  });
}

async function tellAssigned(change) {
  const [, id] = change.topic.split(':');
  if (id === undefined) return;
  const assignment = await get(`/conversations/${id}/assignment`);
  if (assignment === null) return;
  const text = `${assignment.by} assigned the conversation with ${assignment.customer} to you.`;
  const href = `/conversations/${id}`;
  showToast(text, 'success', { href, label: 'Open' });
  await inTurn(() => {
    const former = read();
    if (former === null || hasSeen(former.assigned, change)) return;
    remember({ ...former, assigned: change });
    sound();
    notify(text, href);
  });
}

const hasSeen = (former, { process, at }) => former?.process === process && former.at >= at;

document.addEventListener('live:change', ({ detail: change }) => {
  const [event] = change.topic.split(':');
  if (event === 'awaiting' && read() !== null) void tellWaiting(change);
  if (event === 'assigned') void tellAssigned(change);
});

function notify(title, href) {
  if (globalThis.Notification?.permission !== 'granted') return;
  const notification = new Notification(title, { tag: href });
  notification.onclick = () => {
    window.focus();
    notification.close();
    location.assign(href);
  };
}

/** Two short tones. */
function sound() {
  if (!globalThis.AudioContext || !navigator.userActivation?.hasBeenActive) return;
  const context = new AudioContext();
  const volume = context.createGain();
  volume.gain.value = 0.15;
  volume.connect(context.destination);
  const tone = (hertz, startSeconds) => {
    const oscillator = context.createOscillator();
    oscillator.frequency.value = hertz;
    oscillator.connect(volume);
    oscillator.start(context.currentTime + startSeconds);
    oscillator.stop(context.currentTime + startSeconds + 0.12);
    return oscillator;
  };
  tone(660, 0);
  tone(880, 0.16).onended = () => void context.close();
}

/** Shows whether alerts are on, on every page that has the switch. */
function showSwitch() {
  const button = document.getElementById('alerts-switch');
  if (!button) return;
  button.hidden = false;
  button.setAttribute('aria-pressed', String(read() !== null));
}

async function turnOn() {
  const permission = (await globalThis.Notification?.requestPermission()) ?? 'denied';
  const looked = await look({ known: [], floor: '' });
  if (looked === null) return showToast('The service did not answer. Try again.', 'warning');
  try {
    write(looked.next);
  } catch {
    return showToast(
      'This browser stores nothing for this site, so notifications stay off. Allow it in its settings.',
      'warning',
    );
  }
  sound();
  if (permission === 'granted')
    showToast('This browser tells you when a customer begins to wait for an answer.');
  else
    showToast(
      'This browser blocks notifications from this site, so you only hear a sound. Allow them in its settings.',
      'warning',
    );
}

document.addEventListener('click', async ({ target }) => {
  if (!target.closest?.('#alerts-switch')) return;
  if (read() === null) await turnOn();
  else write(null);
  showSwitch();
});
document.addEventListener('DOMContentLoaded', showSwitch);
document.addEventListener('htmx:afterSettle', showSwitch);
addEventListener('storage', showSwitch);
