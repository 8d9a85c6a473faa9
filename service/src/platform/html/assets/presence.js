// Tells the service that the reader of this page has a conversation open or is writing in it, and
// shows which other members do.
import { load } from './live.js';

const LOOKING_EVERY_MS = 25_000;
const WRITING_EVERY_MS = 5000;
/** The presence of others expires without a change in the feed, so the page has to reload it. */
const RELOAD_AFTER_MS = { writing: 6000, looking: 30_000 };

/** The conversation in which this page has reported its reader; null when there is none. */
let here = null;
let lookingTimer;
let wroteAt = 0;

const shown = () => document.querySelector('[data-conversation]')?.dataset.conversation ?? null;
const isComposer = (field) =>
  field.matches?.('.composer textarea') && /\/(reply|note)$/.test(pathOf(field.form));
const pathOf = (form) => new URL(form.getAttribute('action'), location.href).pathname;

/**
 * Does not wait for the answer. A failed report does no harm: `looking` and `writing` are repeated,
 * and what they said expires by itself.
 */
function tell(conversation, doing) {
  const given = JSON.parse(document.body.getAttribute('hx-headers') ?? '{}');
  const headers = { ...given, 'HX-Request': 'true' };
  const body = new URLSearchParams({ doing });
  const request = { method: 'POST', headers, body, keepalive: true, redirect: 'manual' };
  fetch(`/conversations/${conversation}/presence`, request).catch(() => {});
}

function follow() {
  const conversation = document.hidden ? null : shown();
  if (conversation === here) return;
  leave();
  if (conversation === null) return;
  here = conversation;
  tell(here, 'looking');
  lookingTimer = setInterval(() => tell(here, 'looking'), LOOKING_EVERY_MS);
}

function leave() {
  if (here !== null) tell(here, 'left');
  clearInterval(lookingTimer);
  here = null;
  wroteAt = 0;
}

function stopWriting() {
  if (here !== null && wroteAt > 0) tell(here, 'stopped');
  wroteAt = 0;
}

document.addEventListener('input', ({ target }) => {
  if (here === null || !isComposer(target)) return;
  if (target.value.trim() === '') return stopWriting();
  if (Date.now() - wroteAt < WRITING_EVERY_MS) return;
  wroteAt = Date.now();
  tell(here, 'writing');
});
document.addEventListener('submit', ({ target }) => {
  if (/\/(reply|note)$/.test(pathOf(target))) stopWriting();
});

// This script may load after its page.
queueMicrotask(follow);
document.addEventListener('htmx:afterSettle', follow);
document.addEventListener('visibilitychange', follow);
addEventListener('pageshow', follow);
addEventListener('pagehide', leave);

let reloadTimer;
/** Whom the timer runs for. Other parts that reload do not restart it. */
let awaited = null;
function scheduleReload() {
  const part = document.getElementById('presence');
  const others = part?.querySelector('.here') ?? null;
  if (others === awaited) return;
  clearTimeout(reloadTimer);
  awaited = others;
  if (others === null) return;
  const kind = 'writing' in others.dataset ? 'writing' : 'looking';
  reloadTimer = setTimeout(() => {
    awaited = null;
    if (part.isConnected) load(part);
  }, RELOAD_AFTER_MS[kind]);
}
queueMicrotask(scheduleReload);
document.addEventListener('htmx:afterSettle', scheduleReload);
document.addEventListener('htmx:afterRequest', ({ detail: { elt } }) => {
  if (elt.id === 'presence') scheduleReload();
});
