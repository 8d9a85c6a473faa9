// Tells a member of a customer who begins to wait for an answer, by a notification of the system
// and a sound, once for all tabs of the browser, if they have asked for it there; and of a
// conversation that they are given.
import { showToast } from './toasts.js';

/** Of more at once, only the number is told. */
const MAX_SINGLE = 3;
/** A browser lets a page make a sound only once somebody has used it. Such a page goes first. */
const UNUSED_PAGE_WAITS_MS = 500;
const GATHER_MS = 150;
const RETRY_MS = 3000;
const MAX_RETRY_MS = 60_000;

const member = () => document.getElementById('live-page')?.dataset.member;
const key = () => `alerts:${member()}`;

/**
 * What this browser knows: which conversations wait (`known`), from when on they are news (`floor`),
 * and up to which change it has looked. Null: alerts are off.
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

/** One page at a time, where the browser can say so. */
const inTurn = (run) => (navigator.locks ? navigator.locks.request('alerts', run) : run());
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const get = async (path) => {
  const headers = { 'HX-Request': 'true' };
  const response = await fetch(path, { headers, cache: 'no-store' }).catch(() => null);
  return response?.ok ? response.json() : null;
};

/** @returns what has begun to wait since the last look, and what to remember; null: it failed */
async function look(former) {
  const answer = await get('/conversations/alerts');
  if (answer === null) return null;
  const { waiting, floor } = answer;
  const keyOf = ({ id, since }) => `${id} ${since}`;
  const isNew = (each) => !former.known.includes(keyOf(each)) && each.since > former.floor;
  return {
    news: waiting.filter(isNew),
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
    const { news, next } = looked;
    write({ ...next, waiting: change });
    if (news.length === 0) return;
    sound();
    if (news.length > MAX_SINGLE)
      notify(`${news.length} customers are waiting for an answer`, '/conversations?tab=waiting');
    else
      for (const { id, customer } of news)
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
    write({ ...former, assigned: change });
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
  const tone = (hertz, begin) => {
    const oscillator = context.createOscillator();
    oscillator.frequency.value = hertz;
    oscillator.connect(volume);
    oscillator.start(context.currentTime + begin);
    oscillator.stop(context.currentTime + begin + 0.12);
    return oscillator;
  };
  tone(660, 0);
  tone(880, 0.16).onended = () => void context.close();
}

/** The switch says how it stands, on every page that has it. */
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
