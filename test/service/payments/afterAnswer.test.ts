import { expect, it } from '@jest/globals';
import { afterAnswer, createFailed, withPage } from '../../../service/src/payments/afterAnswer.ts';
import type { Payment, PaymentInWork } from '../../../service/src/payments/payment.ts';

it('a link that failed keeps the reason when a page that came too late is closed', () => {
  const now = new Date();
  const creating = {
    status: 'creating',
    error: null,
    confirmingSince: null,
    providerUrl: null,
  } as unknown as Payment;
  const failed = createFailed(creating, 'Stripe could not be reached.', now);
  const late = withPage(failed, { reference: 'cs_1', url: 'https://pay.test/' }, now);
  // One that failed with the address of a page counts as refused by the customer's bank.
  expect(late).toMatchObject({ providerUrl: null, providerReference: 'cs_1' });
  expect(late.work).toMatchObject({ task: 'expire' });
  expect(afterAnswer(late as PaymentInWork, { type: 'expired' }, now)).toMatchObject({
    status: 'failed',
    error: 'Stripe could not be reached.',
    work: null,
  });
});
