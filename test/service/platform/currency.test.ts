import { describe, expect, it } from '@jest/globals';
import {
  MAX_AMOUNT_MINOR,
  amountHint,
  CURRENCIES,
  decimalsOf,
  formatAmount,
  isCurrency,
  minorToText,
  parseAmount,
} from '../../../service/src/platform/currency.ts';

describe('currencies', () => {
  it.each([
    [0, 'clp isk jpy krw ugx vnd xof xpf'],
    [2, 'eur huf idr usd xcd xcg'],
    [3, 'bhd iqd kwd tnd'],
    [4, 'clf'],
  ])('with %i decimals, as ISO 4217 says: %s', (decimals, currencies) => {
    for (const currency of currencies.split(' '))
      expect([currency, decimalsOf(currency)]).toEqual([currency, decimals]);
  });

  it.each(['xxx', 'xts', 'xau', 'xdr', 'abc', 'USD', '', 'us', 'usdt', 'constructor', '$'])(
    '%j is not a currency',
    (code) => {
      expect(isCurrency(code)).toBe(false);
      expect(() => decimalsOf(code)).toThrow('is not a currency');
    },
  );

  it('lists them all, sorted, each once', () => {
    expect(CURRENCIES.length).toBeGreaterThan(150);
    expect(CURRENCIES).toEqual([...new Set(CURRENCIES)].sort());
  });
});

describe('formatAmount', () => {
  it.each([
    [4900, 'usd', 'US$49.00'],
    [1, 'usd', 'US$0.01'],
    [4900, 'jpy', 'JP¥4,900'],
    [4900, 'kwd', 'KWD 4.900'],
    [1, 'kwd', 'KWD 0.001'],
    [123456, 'huf', 'HUF 1,234.56'],
    [100, 'clf', 'CLF 0.0100'],
    [MAX_AMOUNT_MINOR, 'usd', 'US$9,999,999,999.99'],
    [MAX_AMOUNT_MINOR, 'jpy', 'JP¥999,999,999,999'],
    [MAX_AMOUNT_MINOR, 'kwd', 'KWD 999,999,999.999'],
  ])('%i of %s is %s', (amount, currency, text) =>
    expect(formatAmount(amount, currency).replace('\u00a0', ' ')).toBe(text),
  );

  it('writes every currency with all of its digits', () => {
    for (const currency of CURRENCIES)
      expect(formatAmount(123_456_789_012, currency).replace(/\D/g, '')).toBe('123456789012');
  });
});

describe('parseAmount', () => {
  it.each([
    ['49', 'usd', 4900],
    ['49.9', 'usd', 4990],
    ['49,90', 'usd', 4990],
    [' 49.00 ', 'usd', 4900],
    ['0.01', 'usd', 1],
    ['0,5', 'usd', 50],
    ['007', 'usd', 700],
    ['4900', 'jpy', 4900],
    ['4.9', 'kwd', 4900],
    ['4.900', 'kwd', 4900],
    ['4,9', 'kwd', 4900],
    ['0.0001', 'clf', 1],
    ['1,2345', 'clf', 12_345],
    ['9999999999.99', 'usd', MAX_AMOUNT_MINOR],
    ['999999999999', 'jpy', MAX_AMOUNT_MINOR],
    ['999999999.999', 'kwd', MAX_AMOUNT_MINOR],
    ['1.1', 'usd', 110],
    ['8.2', 'usd', 820],
    ['19.99', 'usd', 1999],
    ['4.35', 'usd', 435],
    ['1.005', 'kwd', 1005],
  ])('%j in %s is %i', (text, currency, amount) =>
    expect(parseAmount(text, currency)).toBe(amount),
  );

  it.each([
    ['1.234,50', 'eur'],
    ['1,234.50', 'usd'],
    ['1,234', 'usd'],
    ['1.234', 'eur'],
    ['1 234', 'eur'],
    ['1\u00a0234', 'eur'],
    ["1'234", 'chf'],
    ['4,900', 'kwd'],
    ['4,900', 'jpy'],
    ['4.900', 'jpy'],
    ['49.5', 'jpy'],
    ['1,234', 'clf'],
    ['49.999', 'usd'],
    ['49.', 'usd'],
    ['.5', 'usd'],
    ['', 'usd'],
    [' ', 'usd'],
    ['0', 'usd'],
    ['0.00', 'usd'],
    ['000', 'jpy'],
    ['-1', 'usd'],
    ['+1', 'usd'],
    ['1e3', 'usd'],
    ['0x10', 'usd'],
    ['$49', 'usd'],
    ['49 usd', 'usd'],
    ['NaN', 'usd'],
    ['Infinity', 'usd'],
    ['４９', 'usd'],
    ['٤٩', 'usd'],
    ['10000000000', 'usd'],
    ['1000000000', 'kwd'],
    ['1000000000000', 'jpy'],
    ['9'.repeat(400), 'usd'],
    ['49', 'abc'],
    ['49', 'USD'],
  ])('%j in %s is no amount: refused rather than guessed', (text, currency) =>
    expect(parseAmount(text, currency)).toBeNull(),
  );

  it('takes what formatAmount and minorToText write, for every currency', () => {
    for (const currency of CURRENCIES) {
      for (const amount of [1, 9, 10, 99, 100, 101, 4900, 99_999, 1_000_001, MAX_AMOUNT_MINOR])
        expect(parseAmount(minorToText(amount, decimalsOf(currency)), currency)).toBe(amount);
    }
  });

  it.each([
    [
      'usd',
      'must be an amount of USD such as 49.00, with at most 2 decimals and no separators between thousands, more than 0 and at most 9999999999.99',
    ],
    [
      'jpy',
      'must be an amount of JPY such as 49, without decimals or separators, more than 0 and at most 999999999999',
    ],
    [
      'kwd',
      'must be an amount of KWD such as 49.000, with at most 3 decimals and no separators between thousands, more than 0 and at most 999999999.999',
    ],
  ])('has a hint for amounts of %s', (currency, hint) => expect(amountHint(currency)).toBe(hint));
});
