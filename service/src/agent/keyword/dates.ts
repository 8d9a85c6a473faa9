import * as chrono from 'chrono-node';
import type { Language } from '../agentModel.ts';

/**
 * Dates and times as people write them, read by chrono-node. "Today" and times without an offset
 * are in the time zone of the machine. What could be read in two ways is not read: `03/04/2026` in
 * English, "at 5" without morning or evening.
 */

/** Something read in a text, and where. */
export interface Found<Value> {
  readonly value: Value;
  readonly at: number;
  readonly length: number;
}

export interface DatesAndTimes {
  /** `2026-12-31` */
  readonly dates: readonly Found<string>[];
  /** `15:30:00` */
  readonly times: readonly Found<string>[];
  /** The first date with the first time: `2026-12-31T15:30:00-03:00`. */
  readonly moments: readonly Found<string>[];
}

/** chrono's time to read grows faster than the text; what customers write of dates is short. */
const MAX_TEXT_CHARACTERS = 1_000;

/** Phrases of Spanish and Portuguese that chrono reads as another day or hour. */
const DAY_AFTER_TOMORROW = /pasado mañana|depois de amanhã/i;
const TIME_WITH_DAYPART =
  /(?<![\p{L}\p{N}])(\d{1,2})(?::(\d{2}))?\s*(?:h|hs|horas)?\s+(?:de|por|da)\s+(?:la\s+)?(mañana|tarde|noche|manhã|noite)/iu;
const TIME_WITH_H = /(?<![\p{L}\p{N}])(\d{1,2})\s?h(?:s|rs|oras)?(\d{2})?(?![\p{L}\p{N}])/iu;

const ADDED_PARSERS: readonly chrono.Parser[] = [
  {
    pattern: () => DAY_AFTER_TOMORROW,
    extract: (context) => {
      const day = new Date(context.refDate);
      day.setDate(day.getDate() + 2);
      return { year: day.getFullYear(), month: day.getMonth() + 1, day: day.getDate() };
    },
  },
  {
    pattern: () => TIME_WITH_DAYPART,
    extract: (_context, match) => {
      const isMorning = /^ma/i.test(match[3]!);
      const hour = Number(match[1]) + (isMorning || Number(match[1]) >= 12 ? 0 : 12);
      return hour > 23
        ? null
        : { hour, minute: Number(match[2] ?? 0), meridiem: isMorning ? 0 : 1 };
    },
  },
  {
    pattern: () => TIME_WITH_H,
    extract: (_context, [, hour, minute]) =>
      Number(hour) > 23
        ? null
        : { hour: Number(hour), minute: Number(minute ?? 0), meridiem: Number(hour) >= 12 ? 1 : 0 },
  },
];

function readerFor(base: chrono.Chrono): chrono.Chrono {
  const reader = base.clone();
  reader.parsers.unshift(...ADDED_PARSERS);
  return reader;
}

const READERS: Readonly<Record<Language, chrono.Chrono>> = {
  en: chrono.en.casual,
  es: readerFor(chrono.es.casual),
  pt: readerFor(chrono.pt.casual),
};

/** Every date and time of day in a text, in the order they are written. */
export function datesIn(text: string, language: Language, now: Date): DatesAndTimes {
  const read = text.slice(0, MAX_TEXT_CHARACTERS);
  const results = READERS[language]
    .parse(read, now, { forwardDate: true })
    .filter((result) => !isMisread(result, read, language));
  const found = (result: chrono.ParsedResult, value: string): Found<string> => ({
    value,
    at: result.index,
    length: result.text.length,
  });
  const dates = results
    .filter(({ start }) => start.isCertain('day') || start.isCertain('weekday'))
    .map((result) => found(result, dateOf(result.start)));
  const timed = results.filter(
    ({ start, text }) =>
      start.isCertain('hour') && (start.isCertain('meridiem') || /\d[:.h]\d/i.test(text)),
  );
  const times = timed.map((result) => {
    const time = found(result, timeOf(result.start));
    // Read together with a date: it stands at the end, so that both can be values.
    const isDated = dates.some(({ at }) => at === time.at);
    return isDated ? { ...time, at: time.at + time.length - 1, length: 1 } : time;
  });
  const moments =
    dates.length === 0 || times.length === 0
      ? []
      : [
          {
            ...dates[0]!,
            value: withOffset(dates[0]!.value, times[0]!.value, timed[0]!.start),
          },
        ];
  return { dates, times, moments };
}

/** "por la mañana" is no tomorrow, "now" names no day, and `03/04` says two days in English. */
function isMisread(result: chrono.ParsedResult, text: string, language: Language): boolean {
  const before = text.slice(Math.max(0, result.index - 4), result.index);
  if (/^(?:now|ahora|agora)$/i.test(result.text)) return true;
  if (language !== 'en')
    return /^ma(?:ñana|nhã)$/i.test(result.text) && /\b(?:la|de|da) $/.test(before);
  const numeric = /^\D*(\d{1,2})[/.-](\d{1,2})(?:[/.-]\d{2,4})?(?!\d)/.exec(result.text);
  return (
    numeric !== null &&
    Number(numeric[1]) <= 12 &&
    Number(numeric[2]) <= 12 &&
    Number(numeric[1]) !== Number(numeric[2])
  );
}

const two = (value: number) => String(Math.floor(value)).padStart(2, '0');

const dateOf = (at: chrono.ParsedComponents) =>
  `${String(at.get('year')).padStart(4, '0')}-${two(at.get('month')!)}-${two(at.get('day')!)}`;

const timeOf = (at: chrono.ParsedComponents) =>
  `${two(at.get('hour')!)}:${two(at.get('minute') ?? 0)}:${two(at.get('second') ?? 0)}`;

function withOffset(date: string, time: string, at: chrono.ParsedComponents): string {
  const minutes = at.get('timezoneOffset');
  return `${date}T${time}${minutes === null ? offsetAt(new Date(`${date}T${time}`)) : offset(minutes)}`;
}

const offset = (minutes: number) =>
  `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;

/** The offset of the machine's time zone at that moment: `-03:00`. */
export const offsetAt = (moment: Date): string => offset(-moment.getTimezoneOffset());
