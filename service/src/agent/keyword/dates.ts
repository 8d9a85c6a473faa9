import type { Language } from '../agentModel.ts';

/**
 * Dates and times as people write them. "Today" and times without an offset are in the time zone of
 * the machine. `03/04/2026` in English says two different days and is therefore none.
 */

/** Something read in a text, and where. */
export interface Found<Value> {
  readonly value: Value;
  readonly at: number;
}

const NOT_BEFORE = '(?<![\\p{L}\\p{N}])';
const NOT_AFTER = '(?![\\p{L}\\p{N}])';
const whole = (pattern: string) => new RegExp(`${NOT_BEFORE}(?:${pattern})${NOT_AFTER}`, 'giu');

const MONTHS = [
  'january|jan|enero|ene|janeiro',
  'february|feb|febrero|fevereiro|fev',
  'march|mar|marzo|mar[çc]o',
  'april|apr|abril|abr',
  'may|mayo|maio',
  'june|jun|junio|junho',
  'july|jul|julio|julho',
  'august|aug|agosto|ago',
  'september|sept?|septiembre|setiembre|setembro|set',
  'october|oct|octubre|outubro|out',
  'november|nov|noviembre|novembro',
  'december|dec|diciembre|dic|dezembro|dez',
] as const;
const MONTH = `(?:${MONTHS.join('|')})`;

/**
 * Sunday first, as `Date` counts. A bare "segunda" says "second" too, so it needs its "-feira" or
 * its "na".
 */
const WEEKDAYS = [
  'sunday|domingo',
  'monday|lunes|segunda-feira|(?<=na )segunda',
  'tuesday|martes|ter[çc]a-feira|(?<=na )ter[çc]a',
  'wednesday|mi[eé]rcoles|quarta-feira|(?<=na )quarta',
  'thursday|jueves|quinta-feira|(?<=na )quinta',
  'friday|viernes|sexta-feira|(?<=na )sexta',
  'saturday|s[aá]bado',
] as const;

const ISO_DATE_TIME = whole(
  '(\\d{4})-(\\d{2})-(\\d{2})[t ](\\d{1,2}):(\\d{2})(?::(\\d{2})(?:\\.\\d{1,9})?)?(z|[+-]\\d{2}:?\\d{2})?',
);
const ISO_DATE = whole('(\\d{4})[-/](\\d{1,2})[-/](\\d{1,2})');
const NUMERIC_DATE = whole(
  '(?<![/.-])(\\d{1,2})(?:([/.-])(\\d{1,2})\\2(\\d{4}|\\d{2})|/(\\d{1,2}))(?![/-])',
);
const DAY_MONTH = whole(
  `(\\d{1,2})(?:st|nd|rd|th|[º°])? ?(?:of |de |del )?(${MONTH})(?:,? (?:of |de |del )?(\\d{4}))?`,
);
const MONTH_DAY = whole(`(${MONTH}) (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?`);
/** "mañana" and "amanhã" are tomorrow, but "la mañana" is the morning. */
const RELATIVE: readonly (readonly [RegExp, number])[] = [
  [whole('day after tomorrow|pasado ma[nñ]ana|depois de amanh[aã]'), 2],
  [whole('tomorrow|(?<!(?:la|esta|cada|pasado) )ma[nñ]ana|(?<!depois de )amanh[aã]'), 1],
  [whole('today|tonight|hoy|hoje'), 0],
];
const WEEKDAY = WEEKDAYS.map((names) => whole(names));

const DAYPART =
  '(?: ?(a\\.? ?m\\b\\.?|p\\.? ?m\\b\\.?| (?:de|por) la (?:ma[nñ]ana|tarde|noche)| (?:da|de) (?:manh[aã]|tarde|noite)))?';
const CLOCK = new RegExp(
  `${NOT_BEFORE}(\\d{1,2}):(\\d{2})(?::(\\d{2}))?${DAYPART}${NOT_AFTER}`,
  'giu',
);
const HOURS = new RegExp(
  `${NOT_BEFORE}(?:(\\d{1,2}) ?(?:h|hs|hrs|horas)(\\d{2})?|(?:a las |a la |at |[àa]s )?(\\d{1,2})${DAYPART})${NOT_AFTER}`,
  'giu',
);

/** Every date in a text, `2026-12-31`, in the order they are written. */
export function datesIn(text: string, language: Language, now: Date): readonly Found<string>[] {
  const year = now.getFullYear();
  const found: Found<string | null>[] = [
    ...each(text, ISO_DATE, ([, y, m, d]) => calendarDate(Number(y), Number(m), Number(d))),
    ...each(text, NUMERIC_DATE, ([, first, , second, y, alone]) =>
      numericDate(Number(first), Number(second ?? alone), y, language, now),
    ),
    ...each(text, DAY_MONTH, ([, d, name, y]) =>
      y === undefined
        ? nextDate(monthOf(name!), Number(d), now)
        : calendarDate(Number(y), monthOf(name!), Number(d)),
    ),
    ...each(text, MONTH_DAY, ([, name, d, y]) =>
      y === undefined
        ? nextDate(monthOf(name!), Number(d), now)
        : calendarDate(Number(y), monthOf(name!), Number(d)),
    ),
    ...RELATIVE.flatMap(([pattern, days]) =>
      each(text, pattern, () => calendarDate(year, now.getMonth() + 1, now.getDate() + days, true)),
    ),
    ...WEEKDAY.flatMap((pattern, weekday) =>
      each(text, pattern, () =>
        calendarDate(year, now.getMonth() + 1, now.getDate() + daysUntil(weekday, now), true),
      ),
    ),
  ];
  return inOrder(found);
}

/**
 * Every time of day in a text, `15:30:00`. "At 5" alone says neither morning nor evening and is
 * none.
 */
export function timesIn(text: string): readonly Found<string>[] {
  return inOrder([
    ...each(text, CLOCK, ([, hour, minute, second, part]) =>
      clock(Number(hour), Number(minute), Number(second ?? 0), part),
    ),
    ...each(text, HOURS, ([, hour, minute, bare, part]) =>
      hour !== undefined
        ? clock(Number(hour), Number(minute ?? 0), 0, undefined)
        : part === undefined
          ? null
          : clock(Number(bare), 0, 0, part),
    ),
  ]);
}

/** A date with its time, with an offset: as written, or that of the machine. */
export function dateTimesIn(text: string, language: Language, now: Date): readonly Found<string>[] {
  const iso = inOrder(
    each(text, ISO_DATE_TIME, ([, y, m, d, hour, minute, second, offset]) => {
      const date = calendarDate(Number(y), Number(m), Number(d));
      const time = clock(Number(hour), Number(minute), Number(second ?? 0), undefined);
      return date === null || time === null
        ? null
        : `${date}T${time}${offset === undefined ? offsetAt(new Date(`${date}T${time}`)) : normalOffset(offset)}`;
    }),
  );
  if (iso.length > 0) return iso;
  const [date] = datesIn(text, language, now);
  const [time] = timesIn(text);
  if (date === undefined || time === undefined) return [];
  return [
    {
      value: `${date.value}T${time.value}${offsetAt(new Date(`${date.value}T${time.value}`))}`,
      at: date.at,
    },
  ];
}

/** The offset of the machine's time zone at that moment: `-03:00`. */
export function offsetAt(moment: Date): string {
  const minutes = -moment.getTimezoneOffset();
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

/**
 * The text with a space for each character of a date or a time, so that what is left can be read as
 * numbers and codes.
 */
export const withoutDates = (text: string): string =>
  [ISO_DATE_TIME, ISO_DATE, NUMERIC_DATE, DAY_MONTH, MONTH_DAY, CLOCK].reduce(
    (rest, pattern) => rest.replace(pattern, (match) => ' '.repeat(match.length)),
    text,
  );

const each = (
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => string | null,
): Found<string | null>[] =>
  [...text.matchAll(pattern)]
    .slice(0, 100)
    .map((match) => ({ value: read(match), at: match.index }));

function inOrder(found: readonly Found<string | null>[]): readonly Found<string>[] {
  return found
    .filter((each): each is Found<string> => each.value !== null)
    .sort((a, b) => a.at - b.at);
}

const monthOf = (name: string): number =>
  MONTHS.findIndex((names) => new RegExp(`^(?:${names})$`, 'iu').test(name)) + 1;

const daysUntil = (weekday: number, now: Date): number => (weekday - now.getDay() + 7) % 7 || 7;

/** @param carry lets a day past the end of its month count on into the next */
function calendarDate(year: number, month: number, day: number, carry = false): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (year < 1900 || year > 2200) return null;
  if (!carry && (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)) return null;
  return date.toISOString().slice(0, 10);
}

function nextDate(month: number, day: number, now: Date): string | null {
  const today = calendarDate(now.getFullYear(), now.getMonth() + 1, now.getDate(), true)!;
  const thisYear = calendarDate(now.getFullYear(), month, day);
  return thisYear !== null && thisYear >= today
    ? thisYear
    : calendarDate(now.getFullYear() + 1, month, day);
}

function numericDate(
  first: number,
  second: number,
  year: string | undefined,
  language: Language,
  now: Date,
): string | null {
  const dayFirst = second <= 12 && (language !== 'en' || first > 12 || first === second);
  const monthFirst = first <= 12 && second > 12;
  if (!dayFirst && !monthFirst) return null;
  const [day, month] = dayFirst ? [first, second] : [second, first];
  if (year === undefined) return nextDate(month, day, now);
  return calendarDate(year.length === 2 ? 2000 + Number(year) : Number(year), month, day);
}

function clock(
  hour: number,
  minute: number,
  second: number,
  part: string | undefined,
): string | null {
  const afternoon =
    part !== undefined && /^\s*p|tarde|noche|noite/i.test(part) && !/ma[nñ]ana/i.test(part);
  const twelve = part !== undefined && hour === 12;
  if (part !== undefined && hour > 12 && /^\s*[ap]\.? ?m/i.test(part)) return null;
  const hours = afternoon ? (twelve || hour > 12 ? hour : hour + 12) : twelve ? 0 : hour;
  if (hours > 23 || minute > 59 || second > 59) return null;
  return [hours, minute, second].map((value) => String(value).padStart(2, '0')).join(':');
}

const normalOffset = (offset: string) =>
  /^z$/i.test(offset) ? 'Z' : offset.replace(/^(...)(\d\d)$/, '$1:$2');
