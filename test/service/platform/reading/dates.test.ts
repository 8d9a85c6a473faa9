// Dates and times as people write them: what is read, and what only looks like one.
import { describe, expect, it } from '@jest/globals';
import { datesIn } from '../../../../service/src/platform/reading/dates.ts';
import type { Language } from '../../../../service/src/platform/reading/language.ts';

const NOON = new Date(2026, 10, 28, 12);

const read = (text: string, language: Language) => {
  const { dates, times, moments } = datesIn(text, language, NOON);
  return [...moments, ...dates, ...times].map(({ value }) => value);
};

describe('a length of time', () => {
  it.each<[Language, string]>([
    ['en', 'are you open 24 hours?'],
    ['en', 'I have waited 2 hours'],
    ['en', 'it took 3 days'],
    ['en', '2 days before Christmas'],
    ['es', '¿están abiertos 24h?'],
    ['es', 'compré hace 3 días'],
    ['es', 'la entrega tarda 48 horas'],
    ['pt', 'o atendimento é 24h?'],
    ['pt', 'quero reservar por 2 horas'],
    ['pt', 'chego em 2 horas'],
    ['pt', 'daqui a 2 horas'],
    ['pt', 'dentro de 2h'],
  ])('is no date and no time (%s): %s', (language, text) =>
    expect(read(text, language)).toEqual([]),
  );

  it.each<[Language, string, string]>([
    ['en', 'in 2 days', '2026-11-30'],
    ['en', 'within two weeks', '2026-12-12'],
    ['en', 'I bought it 2 days ago', '2026-11-26'],
    ['en', 'two weeks from now', '2026-12-12'],
    ['en', 'next week', '2026-12-05'],
    ['en', '2 weeks after tomorrow', '2026-12-13'],
    ['en', 'the day after tomorrow', '2026-11-30'],
    ['en', '2 days before 5 January', '2027-01-03'],
    ['es', 'en 2 días', '2026-11-30'],
    ['es', 'dentro de una semana', '2026-12-05'],
  ])('that is counted from a day is a date (%s): %s', (language, text, date) =>
    expect(read(text, language)).toEqual([date]),
  );
});

describe('a time with a time zone', () => {
  it.each([
    ['call me at 3pm EST', '15:00:00-05:00'],
    ['at 10:00 UTC', '10:00:00+00:00'],
    ['at 10:00 GMT+5:30', '10:00:00+05:30'],
  ])('has its offset, not that of the machine: %s', (text, time) =>
    expect(read(text, 'en')).toEqual([time]),
  );

  it('beside a date has its offset too, as a time and in the moment', () =>
    expect(read('2026-12-31 at 15:30 EST', 'en')).toEqual([
      '2026-12-31T15:30:00-05:00',
      '2026-12-31',
      '15:30:00-05:00',
    ]));
});

describe('an hour without morning or evening', () => {
  it.each<[Language, string]>([
    ['en', '31.12.2026 at 5'],
    ['es', '31.12.2026 a las 5'],
  ])('is no time, also after a date with dots (%s): %s', (language, text) =>
    expect(read(text, language)).toEqual(['2026-12-31']),
  );

  it('with minutes is a time after such a date', () =>
    expect(datesIn('31.12.2026 at 5.30', 'en', NOON).times).toHaveLength(1));
});

describe('an hour with "h"', () => {
  it.each(['em 20/12 14h', 'em 20/12/2026, 14h'])('is a time after a date (pt): %s', (text) => {
    const [moment] = datesIn(text, 'pt', NOON).moments;
    expect(moment?.value).toMatch(/^2026-12-20T14:00:00/);
  });
});

describe('"mañana" after "de"', () => {
  it.each([
    ['a partir de mañana', ['2026-11-29']],
    ['para el día de mañana', ['2026-11-29']],
    ['el martes de mañana', ['2026-12-01']],
    ['de mañana', []],
  ])('is tomorrow, or the morning: %s', (text, dates) => expect(read(text, 'es')).toEqual(dates));
});
