// The chat page: wires what the customer does to the parts that store, send, follow and show.
import { Refusal, history, sendMessage, startSession } from './chat-api.js';
import { createLog } from './chat-log.js';
import { createOutbox } from './chat-outbox.js';
import { openStorage } from './chat-storage.js';
import { followMessages } from './chat-stream.js';
import { say } from './chat-words.js';
import { waitAfter } from './streams.js';

const byId = (id) => document.getElementById(id);
const [page, scroll, welcome, details, composer, text, counter, toEndButton] = [
  'chat',
  'scroll',
  'welcome',
  'details',
  'composer',
  'text',
  'counter',
  'to-end',
].map(byId);
const { workspace, name: teamName } = page.dataset;
const textMax = Number(page.dataset.textMax);
const isFramed = window.parent !== window;
const isTouch = matchMedia('(pointer: coarse)').matches;

const storage = openStorage(workspace);
const log = createLog(byId('log'), {
  teamName,
  onRetry: (message) => outbox.add(message),
  onChoose: write,
  // A phone would open its keyboard.
  onChoicesLost: () => (isTouch ? scroll : text).focus(),
});
const outbox = createOutbox({ storage, deliver, onState: showState });
let stream = null;
let claims = {};

// --- The conversation -------------------------------------------------------------------------

/** One token for all tabs of this browser. The first tab that asks starts the conversation. */
async function tokenForWriting() {
  const begin = async () => {
    const known = await storage.newestToken();
    if (known !== null) return known;
    const token = await startSession({ workspace, ...claims });
    await storage.keepToken(token);
    return token;
  };
  // Browsers have no locks on plain http, and give none to a frame without storage.
  return storage.isShared && navigator.locks
    ? navigator.locks.request(`conversation-service:chat:${workspace}`, begin)
    : begin();
}

async function deliver(message) {
  for (let tries = 1; ; tries++) {
    const token = await tokenForWriting();
    details.hidden = true;
    try {
      await sendMessage(token, message);
      follow();
      return;
    } catch (error) {
      if (error.status !== 401 || tries > 1) throw error;
      await loseToken(token);
    }
  }
}

/** The service no longer knows the token. The next message starts a new conversation. */
async function loseToken(token) {
  const forgotten = storage.forgetToken(token);
  stop();
  log.note(say(log.isEmpty ? 'unavailable' : 'ended'));
  log.forgetPosition();
  await forgotten;
}

function stop() {
  stream?.stop();
  stream = null;
  showConnection('open');
}

function follow() {
  const token = storage.token();
  if (token === null || stream) return;
  stream = followMessages({
    token,
    lastId: log.lastId(),
    onMessage: show,
    onTyping: showTyping,
    onClosed: showClosed,
    onState: showConnection,
    onUnknown: () => void loseToken(token),
  });
}

function show(message) {
  const isNews = log.confirm(message);
  if (message.from !== 'customer') showTyping(0);
  followEnd();
  if (isNews && message.from !== 'customer') tellOfNews();
}

function showClosed(conversationId) {
  if (log.showClosed(conversationId, say('closed'))) announce(say('closed'));
  followEnd();
}

/** Loads the conversation so far, retrying until it works, and then follows it. */
async function load() {
  const token = storage.token();
  for (let failures = 0; token !== null; ) {
    try {
      for await (const message of history(token)) log.confirm(message);
      break;
    } catch (error) {
      if (error.status === 401) {
        await loseToken(token);
        break;
      }
      showConnection('lost');
      await Promise.race([
        new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? waitAfter(failures++))),
        backOnline(),
      ]);
    }
  }
  byId('log').setAttribute('aria-busy', 'false');
  welcome.hidden = !log.isEmpty;
  details.hidden = storage.token() !== null || storage.unsent().length > 0;
  followEnd();
  follow();
  for (const message of storage.unsent()) outbox.add(message);
}

const backOnline = () =>
  new Promise((resolve) => addEventListener('online', resolve, { once: true }));

storage.onTokenOfAnotherTab(() => {
  stop();
  log.forgetPosition();
  details.hidden = true;
  follow();
});

// --- States and announcements --------------------------------------------------------------------

let announced = 0;
function announce(words) {
  // A repeated text has to change, or it is not announced again.
  byId('announcer').textContent = words + '\u00a0'.repeat(announced++ % 2);
}

const STATES = {
  sending: () => ({ label: say('sending'), canRetry: false }),
  sent: () => ({ label: null, canRetry: false }),
  waiting: (error, waitMs) => ({
    label:
      error.status === 429
        ? say('tooFast', { seconds: Math.ceil(waitMs / 1000) })
        : say('notSentYet'),
    canRetry: true,
  }),
  failed: (error) => ({ label: say('notSent', { reason: reasonOf(error) }), canRetry: true }),
};

const isAboutEmail = (error) => error instanceof Refusal && error.param === 'email';
const reasonOf = (error) => (isAboutEmail(error) ? say('emailProblem') : error.message);

const told = new Map();
function showState(message, state, error, waitMs) {
  const shown = STATES[state](error, waitMs);
  log.showOwn(message, shown);
  followEnd();
  if (shown.canRetry && told.get(message.id) !== shown.label) announce(shown.label);
  told.set(message.id, state === 'sending' ? told.get(message.id) : shown.label);
  if (isAboutEmail(error)) askAgain();
  if (state === 'sent' && isLost) stream?.retryNow();
}

/** The email was refused. The first message waits until the email is corrected or removed. */
function askAgain() {
  details.hidden = false;
  showProblem(say('emailProblem'));
}

let isLost = false;
let lostTimer;
function showConnection(state) {
  const notice = byId('connection');
  clearTimeout(lostTimer);
  if (state === 'open') {
    if (isLost) {
      if (!notice.hidden) announce(say('connectedAgain'));
      outbox.retryNow();
    }
    isLost = false;
    notice.hidden = true;
    return;
  }
  isLost = true;
  const tell = () => {
    const words = say(navigator.onLine ? 'reconnecting' : 'offline');
    if (notice.hidden || notice.textContent !== words) announce(words);
    notice.textContent = words;
    notice.hidden = false;
  };
  if (navigator.onLine && notice.hidden) lostTimer = setTimeout(tell, 1500);
  else tell();
}

let typingTimer;
function showTyping(seconds) {
  const typing = byId('typing');
  clearTimeout(typingTimer);
  if (seconds > 0) typingTimer = setTimeout(() => showTyping(0), seconds * 1000);
  if (typing.hidden === (seconds === 0)) return;
  typing.hidden = seconds === 0;
  if (seconds > 0) announce(typing.textContent);
  if (atEnd) followEnd();
}

const title = document.title;
let unread = 0;
function tellOfNews() {
  if (isFramed) window.parent.postMessage('conversation-service:message', '*');
  if (document.visibilityState === 'visible') return;
  document.title = `(${++unread}) ${title}`;
}
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') return;
  unread = 0;
  document.title = title;
});

// --- The end of the conversation stays in view, unless the reader has scrolled up ---------------

let atEnd = true;
function followEnd() {
  if (atEnd) scroll.scrollTop = scroll.scrollHeight;
  else toEndButton.hidden = false;
}
scroll.addEventListener('scroll', () => {
  atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 60;
  if (atEnd) toEndButton.hidden = true;
});
toEndButton.addEventListener('click', () => {
  atEnd = true;
  followEnd();
  toEndButton.hidden = true;
  scroll.focus();
});
new ResizeObserver(() => {
  if (atEnd) followEnd();
}).observe(scroll);

// Where an on-screen keyboard covers the page instead of shrinking it, the page makes room itself.
window.visualViewport?.addEventListener('resize', () =>
  document.documentElement.style.setProperty('--height', `${window.visualViewport.height}px`),
);

// --- Writing ----------------------------------------------------------------------------------

const lengthOf = (words) => [...words].length;

function showLength() {
  const left = textMax - lengthOf(text.value);
  counter.hidden = left > 200;
  counter.textContent = left >= 0 ? say('left', { count: left }) : say('tooMany', { count: -left });
  counter.classList.toggle('problem', left < 0);
  if (left < 0) text.setAttribute('aria-invalid', 'true');
  else text.removeAttribute('aria-invalid');
  if (CSS.supports('field-sizing', 'content')) return;
  text.style.height = 'auto';
  text.style.height = `${text.scrollHeight + 2}px`;
}

/** Makes the id of a message, which stays the same when the message is sent again. */
const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

composer.addEventListener('submit', (event) => {
  event.preventDefault();
  const words = text.value.toWellFormed().replaceAll('\0', '').trim();
  text.focus();
  if (words === '') return;
  if (lengthOf(words) > textMax) return announce(say('notSent', { reason: counter.textContent }));
  if (!readDetails()) return;
  text.value = '';
  storage.keepDraft('');
  showLength();
  write(words);
});

/** Sends what the customer wrote or chose. */
function write(words) {
  welcome.hidden = true;
  details.hidden = true;
  atEnd = true;
  outbox.add({ id: newId(), text: words, at: Date.now() });
}
text.addEventListener('input', () => {
  storage.keepDraft(text.value);
  showLength();
});
text.addEventListener('keydown', (event) => {
  if (
    event.key !== 'Enter' ||
    event.shiftKey ||
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.isComposing
  )
    return;
  event.preventDefault();
  composer.requestSubmit();
});

// --- Who writes -------------------------------------------------------------------------------

const emailProblem = byId('email-problem');
const email = byId('email');

function showProblem(words) {
  emailProblem.textContent = words;
  emailProblem.hidden = words === '';
  if (words === '') return email.removeAttribute('aria-invalid');
  email.setAttribute('aria-invalid', 'true');
  email.focus();
}

/** @returns false when the form has to be corrected first */
function readDetails() {
  if (details.hidden) return true;
  showProblem('');
  const values = { name: byId('name').value.trim(), email: email.value.trim() };
  if (values.email !== '' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(values.email)) {
    showProblem(say('emailProblem'));
    return false;
  }
  claims = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  return true;
}

function leaveDetails() {
  details.hidden = true;
  text.focus();
  outbox.retryNow();
}
details.addEventListener('submit', (event) => {
  event.preventDefault();
  if (readDetails()) leaveDetails();
});
byId('skip').addEventListener('click', () => {
  details.reset();
  claims = {};
  showProblem('');
  leaveDetails();
});

// --- Inside another website ---------------------------------------------------------------------

if (isFramed) {
  document.documentElement.dataset.framed = '';
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.isComposing)
      window.parent.postMessage('conversation-service:close', '*');
  });
  addEventListener('message', ({ source, data }) => {
    if (source === window.parent && data === 'conversation-service:focus')
      (isTouch ? document.querySelector('h1') : text).focus();
  });
}

scroll.hidden = false;
composer.hidden = false;
// The browser may have restored the text by itself.
if (text.value === '') text.value = storage.draft();
showLength();
if (isFramed) window.parent.postMessage('conversation-service:ready', '*');
void load();
