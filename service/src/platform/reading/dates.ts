import type * as chrono from 'chrono-node';
// Each language by itself: importing all of chrono-node takes a tenth of the service's start.
import { casual as english } from 'chrono-node/en';
import { casual as spanish } from 'chrono-node/es';
import { casual as portuguese } from 'chrono-node/pt';
import type { Language } from './language.ts';

/**
 * Dates and times as people write them, read by chrono-node. "Today" and times without an offset
 * are in the time zone of the machine. Ambiguous texts are not read: `03/04/2026` in English, "at
 * 5" without morning or evening, "2 days".
 */

interface TextRange {
  readonly at: number;
  readonly length: number;
}

/** Something read in a text, and where. */
export interface Found<Value> extends TextRange {
  readonly value: Value;
}

export interface DatesAndTimes {
  /** `2026-12-31` */
  readonly dates: readonly Found<string>[];
  /** `15:30:00-03:00` */
  readonly times: readonly Found<string>[];
  /** The first date with the first time: `2026-12-31T15:30:00-03:00`. */
  readonly moments: readonly Found<string>[];
  /** How long something takes: "3 days". */
  readonly lengths: readonly TextRange[];
  /** What chrono takes for a time, but is none: "2 de la noche". Its digits are no number either. */
  readonly misread: readonly TextRange[];
}

/** chrono's running time grows faster than the text. A message that names a date is short. */
const MAX_TEXT_CHARACTERS = 1_000;

/** Phrases of Spanish and Portuguese that chrono reads as the wrong day or hour. */
const DAY_AFTER_TOMORROW = /pasado mañana|depois de amanhã/i;
const TIME_WITH_DAYPART =
  /(?<![\p{L}\p{N}])([01]?\d|2[0-3])(?::(\d{2}))?\s*(?:h|hs|horas)?\s+(?:de|por|da)\s+(?:la\s+)?(mañana|tarde|noche|manhã|noite)/iu;
const TIME_WITH_H = /(?<![\p{L}\p{N}])([01]?\d|2[0-3])\s?h(?:s|rs|oras)?(\d{2})?(?![\p{L}\p{N}])/iu;

/** Before "2 horas", these words say how long something takes or how far away it is. */
const HOW_LONG =
  /(?<!\p{L})(?:llev[oa]|llevamos|hace|durante|h[aá]|faz|em|por|daqui a|dentro de)\s+$/iu;

/** `31.12.2026`, of which `31.12` is no time. */
const DOTTED_DATE = /\d+\.\d+\.\d+/;

/** With these words, a length of time says when something is: "in 2 days", "2 days ago". */
const SAYS_WHEN =
  /^(?:in|within|next|last|past|the|en|dentro)\b|^[+-]|\b(?:ago|now|earlier|later|out|(?:after|before) .+)$/i;

const timeOfDay = (hour: number, minute = '0') => ({
  hour,
  minute: Number(minute),
  meridiem: hour >= 12 ? 1 : 0,
});

const ADDED_PARSERS: readonly chrono.Parser[] = [
  {
    pattern: () => DAY_AFTER_TOMORROW,
    extract: ({ refDate }) => {
      const day = new Date(refDate);
      day.setDate(day.getDate() + 2);
      return { year: day.getFullYear(), month: day.getMonth() + 1, day: day.getDate() };
    },
  },
  {
    pattern: () => TIME_WITH_DAYPART,
    extract: (_context, [, hour, minute, daypart]) => {
      const isMorning = /^ma/i.test(daypart!);
      return timeOfDay(Number(hour) + (isMorning || Number(hour) >= 12 ? 0 : 12), minute);
    },
  },
  {
    pattern: () => TIME_WITH_H,
    extract: (_context, [, hour, minute]) => timeOfDay(Number(hour), minute),
  },
];

function readerFor(base: chrono.Chrono): chrono.Chrono {
  const reader = base.clone();
  reader.parsers.unshift(...ADDED_PARSERS);
  return reader;
}

const READERS: Readonly<Record<Language, chrono.Chrono>> = {
  en: english,
  es: readerFor(spanish),
  pt: readerFor(portuguese),
};

/** Every date and time of day in a text, in the order in which they are written. */
export function datesIn(text: string, language: Language, now: Date): DatesAndTimes {
  const head = text.slice(0, MAX_TEXT_CHARACTERS);
  const results = READERS[language]
    .parse(head, now, { forwardDate: true })
    .filter((result) => !isMisreadDate(result, head, language));
  const lengths = results.filter(isLengthOfTime);
  const dated = results.filter(
    (result) =>
      !lengths.includes(result) &&
      (result.start.isCertain('day') || result.start.isCertain('weekday')),
  );
  const misread = results.filter((result) => isMisreadTime(result, head));
  const timed = results.filter(
    (result) =>
      !lengths.includes(result) &&
      !misread.includes(result) &&
      result.start.isCertain('hour') &&
      (result.start.isCertain('meridiem') ||
        /\d[:.h]\d/i.test(result.text.replace(DOTTED_DATE, ''))),
  );
  const dates = dated.map(({ start, index, text }) => ({
    value: dateOf(start),
    at: index,
    length: text.length,
  }));
  const times = timed.map((result) => ({
    value: withOffset(result.start, now),
    // A time within a date ("Friday at 5 pm") is placed at its end, so that both can be values.
    ...(dated.includes(result)
      ? { at: result.index + result.text.length - 1, length: 1 }
      : { at: result.index, length: result.text.length }),
  }));
  const [date] = dates;
  const [time] = timed;
  const moments = date && time ? [{ ...date, value: momentOf(date.value, time.start) }] : [];
  return {
    dates,
    times,
    moments,
    lengths: lengths.map(placeOf),
    misread: misread.map(placeOf),
  };
}

const placeOf = ({ index, text }: chrono.ParsedResult): TextRange => ({
  at: index,
  length: text.length,
});

/** "24 hours", "for 2 days" and "hace 3 días", which chrono counts from now. */
const isLengthOfTime = (result: chrono.ParsedResult): boolean =>
  result.tags().has('result/relativeDate') && !SAYS_WHEN.test(result.text);

/**
 * "12 de la noche" could be the start or the end of a day, "2 de la noche" is not 14:00, and "hace
 * 2 horas" is a length of time.
 */
function isMisreadTime({ index, text }: chrono.ParsedResult, head: string): boolean {
  const [, hour, , daypart] = TIME_WITH_DAYPART.exec(text) ?? [];
  if (/^no/i.test(daypart ?? '')) return Number(hour) < 6 || Number(hour) === 12;
  // In "em 20/12 14h", the word before is that of the date.
  const startsWithTime = TIME_WITH_H.exec(text)?.index === 0;
  return startsWithTime && HOW_LONG.test(head.slice(Math.max(0, index - 13), index));
}

/**
 * "por la mañana" is not tomorrow, though "a partir de mañana" is. "now" names no day, and `03/04`
 * can be two days in English.
 */
function isMisreadDate(result: chrono.ParsedResult, head: string, language: Language): boolean {
  const before = head.slice(Math.max(0, result.index - 12), result.index);
  if (/^(?:now|ahora|agora)$/i.test(result.text)) return true;
  if (language !== 'en')
    return (
      /^ma(?:ñana|nhã)$/i.test(result.text) && /\b(?:la|(?<!partir |d[ií]a )de|da) $/i.test(before)
    );
  const numeric = /^\D*(\d{1,2})[/.-](\d{1,2})(?:[/.-]\d{2,4})?(?!\d)/.exec(result.text);
  return (
    numeric !== null &&
    Number(numeric[1]) <= 12 &&
    Number(numeric[2]) <= 12 &&
    Number(numeric[1]) !== Number(numeric[2])
  );
}

const twoDigits = (value: number) => String(Math.floor(value)).padStart(2, '0');

const dateOf = (at: chrono.ParsedComponents) =>
  `${String(at.get('year')).padStart(4, '0')}-${twoDigits(at.get('month')!)}-${twoDigits(at.get('day')!)}`;

const timeOf = (at: chrono.ParsedComponents) =>
  `${twoDigits(at.get('hour')!)}:${twoDigits(at.get('minute') ?? 0)}:${twoDigits(at.get('second') ?? 0)}`;

/** @param moment decides the offset when the time has none of its own */
function withOffset(time: chrono.ParsedComponents, moment: Date): string {
  const minutes = time.get('timezoneOffset');
  return timeOf(time) + (minutes === null ? offsetAt(moment) : offset(minutes));
}

const momentOf = (date: string, time: chrono.ParsedComponents): string =>
  `${date}T${withOffset(time, new Date(`${date}T${timeOf(time)}`))}`;

const offset = (minutes: number) =>
  `${minutes < 0 ? '-' : '+'}${twoDigits(Math.abs(minutes) / 60)}:${twoDigits(Math.abs(minutes) % 60)}`;

/** The offset of the machine's time zone at that moment: `-03:00`. */
const offsetAt = (moment: Date): string => offset(-moment.getTimezoneOffset());
