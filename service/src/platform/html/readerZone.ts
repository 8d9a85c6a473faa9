import { AsyncLocalStorage } from 'node:async_hooks';

/** The time zone of the member who reads the page. */
const zone = new AsyncLocalStorage<string>();

/** Runs a request's handlers, which show times in the given zone. @param timeZone IANA name */
export const inZone = (timeZone: string, run: () => void): void => zone.run(timeZone, run);

/** The reader's time zone; UTC where nobody has chosen one. */
export const readerZone = (): string => zone.getStore() ?? 'UTC';

const ZONES: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

/** The names of all zones, UTC first. */
export const timeZones = (): readonly string[] => [...ZONES];

export const isTimeZone = (name: string): boolean => ZONES.has(name);

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Formats times in a zone, the reader's unless another one is given.
 * @param key identifies `locale` and `options` in the cache of formats
 */
export function formatInZone(
  key: string,
  locale: string,
  options: Intl.DateTimeFormatOptions,
  timeZone = readerZone(),
): Intl.DateTimeFormat {
  const known = formats.get(`${key} ${timeZone}`);
  if (known) return known;
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone });
  formats.set(`${key} ${timeZone}`, format);
  return format;
}

/**
 * The day of a time in a zone, the reader's unless another one is given: `2026-11-21`.
 * @param time ISO 8601
 */
export const dayInZone = (time: string, timeZone = readerZone()): string =>
  timeZone === 'UTC' ? time.slice(0, 10) : timeInZone(time, timeZone).slice(0, 10);

/**
 * A time in a zone, the reader's unless another one is given: `2026-11-21 11:00:00`.
 * @param time ISO 8601
 */
export const timeInZone = (time: string, timeZone = readerZone()): string =>
  formatInZone('exact', 'sv-SE', EXACT, timeZone).format(new Date(time));

const EXACT: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
};
