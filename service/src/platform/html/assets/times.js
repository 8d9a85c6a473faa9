// Times in the reader's own zone. Without scripts they are in UTC.

const locale = navigator.languages.find((each) => /^en\b/.test(each)) ?? 'en';
const formats = {
  exact: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
  full: new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' }),
  day: new Intl.DateTimeFormat(locale, { dateStyle: 'long' }),
  clock: new Intl.DateTimeFormat(locale, { timeStyle: 'short' }),
  weekday: new Intl.DateTimeFormat(locale, { dateStyle: 'full' }),
};

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const inWords = (exact) => {
  const ms = exact > 0 ? Math.round(exact / 60_000) * 60_000 : exact;
  for (const [unit, length] of [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ])
    if (Math.abs(ms) >= length) return relative.format(Math.trunc(ms / length), unit);
  return 'now';
};

/** <time data-ago>, data-exact, data-day (a date) and data-clock (a time of day). */
const WORDS = {
  ago: (at) => inWords(at - Date.now()),
  exact: (at) => formats.exact.format(at),
  day: (at) => formats.day.format(at),
  clock: (at) => formats.clock.format(at),
};

function refresh(kind, root) {
  for (const time of root.querySelectorAll(`time[data-${kind}]`)) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const words = WORDS[kind](at);
    if (time.textContent !== words) time.textContent = words;
    time.title = formats.full.format(at);
  }
}

const dayStart = (at) => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
function dayInWords(at) {
  const days = Math.round((dayStart(new Date()) - dayStart(at)) / 86_400_000);
  return ['Today', 'Yesterday'][days] ?? formats.weekday.format(at);
}

/** The line above each day of a <ol data-days>, where the reader's day begins. */
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
  time.textContent = dayInWords(at);
  line.append(time);
  return line;
}

/** Rewrites the times in a part of the page. */
export function inReadersZone(root = document) {
  for (const kind of Object.keys(WORDS)) refresh(kind, root);
  divideDays(root);
}

inReadersZone();
document.addEventListener('htmx:afterSwap', () => inReadersZone());
setInterval(() => document.hidden || refresh('ago', document), 30_000);
