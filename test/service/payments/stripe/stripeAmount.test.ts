import { describe, expect, it } from '@jest/globals';
import { CURRENCIES, decimalsOf } from '../../../../service/src/platform/currency.ts';
import { stripe } from '../../../../service/src/payments/stripe/stripe.ts';
import { stripeAmount } from '../../../../service/src/payments/stripe/stripeAmount.ts';

describe("amounts in Stripe's units", () => {
  // Our amount, then Stripe's as docs.stripe.com gives it ("Supported currencies").
  it.each([
    ['10.99 US dollars', 1099, 'usd', 1099],
    ['500 yen', 500, 'jpy', 500],
    ['5 krónur', 5, 'isk', 500],
    ['5 Ugandan shillings', 5, 'ugx', 500],
    ['7 ariary', 700, 'mga', 7],
    ['29 ariary', 2900, 'mga', 29],
    ['10.45 forint', 1045, 'huf', 1045],
    ['800.45 Taiwan dollars', 80_045, 'twd', 80_045],
    ['5.120 Kuwaiti dinars', 5120, 'kwd', 5120],
    ['1 CFA franc', 1, 'xof', 1],
    ['1 Caribbean guilder', 100, 'xcg', 100],
  ])('%s', (_words, amount, currency, unitAmount) => {
    expect(stripeAmount(amount, currency)).toEqual({ unitAmount });
    expect(stripe.refuse(amount, currency)).toBeNull();
  });

  it.each('bif clp djf gnf jpy kmf krw pyg rwf vnd vuv xaf xof xpf'.split(' '))(
    '%s has no decimals, here and at Stripe',
    (currency) => {
      expect(decimalsOf(currency)).toBe(0);
      expect(stripeAmount(1234, currency)).toEqual({ unitAmount: 1234 });
    },
  );

  it.each([
    [5124, 'kwd', 'amount', 'must end in 0 with Stripe in kwd'],
    [5, 'tnd', 'amount', 'must end in 0 with Stripe in tnd'],
    [750, 'mga', 'amount', 'must end in 00 with Stripe in mga'],
    [100_000_000, 'usd', 'amount', 'must be at most 99999999 with Stripe in usd (999999.99)'],
    [100_000_000, 'jpy', 'amount', 'must be at most 99999999 with Stripe in jpy (99999999)'],
    [1_000_000, 'isk', 'amount', 'must be at most 999999 with Stripe in isk (999999)'],
    [100_000_000, 'kwd', 'amount', 'must be at most 99999990 with Stripe in kwd (99999.990)'],
    [
      10_000_000_000,
      'mga',
      'amount',
      'must be at most 9999999900 with Stripe in mga (99999999.00)',
    ],
    [1_000_000_000, 'inr', 'amount', 'must be at most 999999999 with Stripe in inr (9999999.99)'],
    [1000, 'iqd', 'currency', 'must be one that Stripe accepts, and iqd is not'],
    [1000, 'clf', 'currency', 'must be one that Stripe accepts, and clf is not'],
    [1000, 'uyi', 'currency', 'must be one that Stripe accepts, and uyi is not'],
  ])('refuses %d %s, and says why', (amount, currency, param, message) =>
    expect(stripe.refuse(amount, currency)).toEqual({ param, message }),
  );

  it.each([
    [99_999_999, 'usd'],
    [999_999, 'ugx'],
    [9_999_999_900, 'mga'],
    [99_999_990, 'kwd'],
    [999_999_999, 'inr'],
    [9_999_999_999, 'cop'],
    [999_999_999_999, 'idr'],
  ])('accepts the maximum, %d %s', (amount, currency) =>
    expect(stripe.refuse(amount, currency)).toBeNull(),
  );

  it('gives a whole number, or refuses the currency, for every currency', () => {
    for (const currency of CURRENCIES) {
      for (const amount of [100, 4900, 123_400]) {
        const result = stripeAmount(amount, currency);
        if ('unitAmount' in result)
          expect([currency, Number.isInteger(result.unitAmount)]).toEqual([currency, true]);
        else expect([currency, result.param]).toEqual([currency, 'currency']);
      }
    }
  });
});
