// Shows times in the browser's zone. Without scripts, they are in the zone of the member's profile,
// or in UTC.

const locale = navigator.languages.find((each) => /^en\b/.test(each)) ?? 'en';
const formats = {
  exact: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
  second: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
  full: new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' }),
  day: new Intl.DateTimeFormat(locale, { dateStyle: 'long' }),
  clock: new Intl.DateTimeFormat(locale, { timeStyle: 'short' }),
  weekday: new Intl.DateTimeFormat(locale, { dateStyle: 'full' }),
  shortDay: new Intl.DateTimeFormat('en-GB', { weekday: 'short' }),
  shortDate: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }),
};

const relative = new Intl.RelativeTimeFormat('en');
/** What `ago` in times.ts says. */
const inWords = (exactMs) => {
  const ms = exactMs > 0 ? Math.round(exactMs / 60_000) * 60_000 : exactMs;
  for (const [unit, length] of [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ])
    if (Math.abs(ms) >= length) return relative.format(Math.trunc(ms / length), unit);
  return 'now';
};

/** What `shortAgo` in times.ts says, with days in the browser's zone. */
function inShort(at) {
  const now = new Date();
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 6 * 24 * 60) return formats.shortDay.format(at);
  const date = formats.shortDate.format(at);
  return at.getFullYear() === now.getFullYear() ? date : `${date} ${at.getFullYear()}`;
}

/**
 * The text of a <time data-ago>, and of data-short, data-exact, data-second, data-day (a date) and
 * data-clock (a time of day).
 */
const WORDS = {
  ago: (at) => inWords(at - Date.now()),
  short: inShort,
  exact: (at) => formats.exact.format(at),
  second: (at) => formats.second.format(at),
  day: (at) => formats.day.format(at),
  clock: (at) => formats.clock.format(at),
};

function write(time, words) {
  if (time.textContent !== words) time.textContent = words;
}

function refresh(kind, root) {
  for (const time of root.querySelectorAll(`time[data-${kind}]`)) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    write(time, WORDS[kind](at));
    time.title = formats.full.format(at);
  }
}

const dayStart = (at) => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
function dayInWords(at) {
  const days = Math.round((dayStart(new Date()) - dayStart(at)) / 86_400_000);
  return ['Today', 'Yesterday'][days] ?? formats.weekday.format(at);
}

/** Puts a line above the first item of each day, in the reader's zone, of an <ol data-days>. */
function divideDays(root) {
  for (const list of root.querySelectorAll('[data-days]')) {
    list.querySelectorAll(':scope > .day').forEach((line) => line.remove());
    let before = null;
    for (const item of list.querySelectorAll(':scope > [data-at]')) {
      const at = new Date(item.dataset.at);
      if (dayStart(at) !== before) item.before(dayLine(at));
      before = dayStart(at);
    }
  }
}
function dayLine(at) {
  const line = document.createElement('li');
  line.className = 'day';
  const time = document.createElement('time');
  time.dateTime = at.toISOString();
  nameDay(time);
  line.append(time);
  return line;
}
/** At midnight, "Today" becomes "Yesterday". */
const nameDay = (time) => write(time, dayInWords(new Date(time.dateTime)));

/** Rewrites the times in a part of the page. */
export function inReadersZone(root = document) {
  for (const kind of Object.keys(WORDS)) refresh(kind, root);
  divideDays(root);
}

inReadersZone();
document.addEventListener('htmx:afterSwap', () => inReadersZone());
setInterval(() => {
  if (document.hidden) return;
  refresh('ago', document);
  refresh('short', document);
  document.querySelectorAll('[data-days] > .day > time').forEach(nameDay);
}, 30_000);
