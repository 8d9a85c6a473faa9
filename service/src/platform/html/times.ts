import { html, type View } from './html.ts';
import { dayInZone, formatInZone, readerZone, timeInZone } from './readerZone.ts';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

// Not `numeric: 'auto'`, which calls 47 hours ago "yesterday".
const relative = new Intl.RelativeTimeFormat('en');

/**
 * "5 minutes ago", "in 2 hours", "now". A time in the future is rounded to the nearest minute: a
 * wait of 24 hours that has just begun says "in 1 day", not "in 23 hours".
 * @param time ISO 8601
 */
export function ago(time: string, now: Date): string {
  const exact = Date.parse(time) - now.getTime();
  const ms = exact > 0 ? Math.round(exact / 60_000) * 60_000 : exact;
  for (const [unit, length] of UNITS)
    if (Math.abs(ms) >= length) return relative.format(Math.trunc(ms / length), unit);
  return 'now';
}

/**
 * "2026-11-21 10:00:00 UTC", or in the time zone of the member's profile, with its name.
 * @param time ISO 8601, in UTC
 */
export const exactTime = (time: string): string =>
  readerZone() === 'UTC'
    ? time.replace('T', ' ').replace(/\.\d+\+00:00$/, ' UTC')
    : `${timeInZone(time)} (${readerZone()})`;

/** A time in words, with the exact time as its title. */
export const timeView = (time: string | null, now: Date): View =>
  time === null
    ? '–'
    : html`<time datetime=${time} data-ago title=${exactTime(time)}>${ago(time, now)}</time>`;

const MINUTE_MS = 60_000;

/** For a column of times: "now", "3 min", "5 h", "Tue", "12 Nov", "12 Nov 2025". */
export function shortAgo(time: string, now: Date): string {
  const at = new Date(time);
  const minutes = Math.floor((now.getTime() - at.getTime()) / MINUTE_MS);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 6 * 24 * 60)
    return formatInZone('weekday', 'en-GB', { weekday: 'short' }).format(at);
  const date = formatInZone('date', 'en-GB', { day: 'numeric', month: 'short' }).format(at);
  const year = dayInZone(time).slice(0, 4);
  return year === dayInZone(now.toISOString()).slice(0, 4) ? date : `${date} ${year}`;
}

/**
 * A short form of a time, with the exact time as its title. In the browser, times.js shows it in
 * the reader's own time zone.
 */
export const shortTimeView = (time: string, now: Date): View =>
  html`<time datetime=${time} data-short title=${exactTime(time)}>${shortAgo(time, now)}</time>`;

/**
 * What `exactTime` says. In the browser, times.js shows it in the reader's own time zone.
 * @param time ISO 8601, in UTC
 */
export const exactTimeView = (time: string): View =>
  html`<time datetime=${time} data-exact>${exactTime(time)}</time>`;

/** Like `exactTimeView`, but times.js shows the seconds too. @param time ISO 8601, in UTC */
export const secondTimeView = (time: string): View =>
  html`<time datetime=${time} data-second>${exactTime(time)}</time>`;

/** The largest offset of a time zone: 14 hours. */
const MAX_OFFSET_MINUTES = 14 * 60;

/**
 * Reads the time zone that the page's script added to a form, in minutes west of UTC; 0 without
 * scripts.
 * @returns null when the text is not a time zone's offset
 */
export function readOffset(text = ''): number | null {
  const minutes = Number(text);
  return Number.isInteger(minutes) && Math.abs(minutes) <= MAX_OFFSET_MINUTES ? minutes : null;
}
