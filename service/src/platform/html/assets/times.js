/** Times grow older while a page is open, and say the reader's own time when asked. */
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
const refreshTimes = (root = document) => {
  for (const time of root.querySelectorAll('time[data-ago]')) {
    const at = new Date(time.dateTime);
    time.textContent = inWords(at - Date.now());
    time.title = at.toLocaleString();
  }
};
setInterval(() => document.hidden || refreshTimes(), 30_000);
