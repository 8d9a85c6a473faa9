import { beforeAll, describe, expect, it } from '@jest/globals';
import type * as amountFile from '../../nodes/ConversationService/shared/amount';
import { CURRENCIES, decimalsOf } from '../../service/src/platform/currency.ts';
import { byId as conversationById, chosen, RETRY_ON_FAIL, useService } from './helpers/actions.ts';
import { builtFile } from './helpers/builtFile.ts';
import { failureOf } from './helpers/n8n.ts';

const { open: openConversation, resource, search, service, wire } = useService();
beforeAll(async () => {
  const { status } = await service().api.put('/api/payment-accounts/manual', {
    settings: { instructions: 'Transfer to DE00.' },
  });
  expect(status).toBe(200);
});

const link = resource('paymentLink', { simplify: false });
const byId = (id: string) => ({ paymentLinkId: chosen('id', id) });

const open = async () => (await openConversation()).id;
const WANTED = { amount: 49, currency: 'USD', description: 'Demo, one hour' };
const inConversation = (id: string, more = {}) => ({ ...conversationById(id), ...WANTED, ...more });
/** Makes a payment link in a new conversation. */
const create = async (more = {}) =>
  (await link('create', { parameters: inConversation(await open(), more) })).items[0]!;

describe('Payment Link', () => {
  it('is made in the conversation of the trigger’s event by default', async () => {
    const id = await open();
    const { items, paired } = await link('create', {
      parameters: WANTED,
      input: [{ event: 'message.received', conversation: { id } }],
    });
    expect(items).toMatchObject([
      {
        id: expect.stringMatching(/^pay_/),
        conversation_id: id,
        status: 'open',
        amount: 4900,
        currency: 'usd',
        amount_display: 'US$49.00',
        provider: 'manual',
        url: expect.stringContaining('/pay/'),
      },
    ]);
    expect(paired).toEqual([{ item: 0 }]);
    expect((await service().api.get(`/api/conversations/${id}`)).body.funnel_stage).toBe(
      'payment_pending',
    );
  });

  it('takes provider and expiry', async () => {
    const made = await create({ options: { provider: 'manual', expiresInMinutes: 90 } });
    expect(Date.parse(made.expires_at as string) - Date.parse(made.created_at as string)).toBe(
      90 * 60_000,
    );
    const error = await failureOf(create({ options: { provider: 'stripe' } }));
    expect(error).toMatchObject({ httpCode: '409', message: expect.stringMatching(/stripe/i) });
  });

  it('is made once under Retry On Fail, although the first answer is lost, and once for a deduplication key', async () => {
    const id = await open();
    wire().loses = () => wire().seen.length === 1;
    const { items } = await link('create', {
      parameters: inConversation(id),
      node: RETRY_ON_FAIL,
    });
    expect([wire().seen.length, items.length]).toEqual([2, 1]);
    for (const executionId of ['7', '8'])
      await link('create', {
        parameters: inConversation(id, { options: { deduplicationKey: 'evt_1' } }),
        executionId,
      });
    for (const amount of [10, 20])
      await link('create', {
        parameters: inConversation(id, {
          amount,
          options: { deduplicationKey: '={{ $json.missing }}' },
        }),
        input: [{ missing: null }],
        executionId: String(amount),
      });
    const all = await link('getAll', {
      parameters: { returnAll: true, filters: { conversation_id: id } },
    });
    expect(all.items).toHaveLength(4); // one for its step, one for its key, two without a key
  });

  it.each([
    [0, 'USD', 'The amount is zero'],
    [-5, 'USD', 'The amount "-5" is not a positive number'],
    [Number.NaN, 'USD', 'The amount "NaN" is not a positive number'],
    ['1,000', 'USD', 'The amount "1,000" is not a positive number'],
    [49.999, 'USD', 'The amount 49.999 has more decimals than USD takes (2)'],
    [4900.5, 'jpy', 'The amount 4900.5 has more decimals than JPY takes (0)'],
    ['4.9001', 'KWD', 'The amount 4.9001 has more decimals than KWD takes (3)'],
  ])('refuses the amount %s %s before anything is called', async (amount, currency, message) => {
    const error = await failureOf(create({ amount, currency }));
    expect(error).toMatchObject({ message, description: expect.stringContaining('such as') });
    expect(wire().seen).toEqual([]);
  });

  it('refuses decimals in minor units, and shows how to write the amount', async () => {
    expect(await failureOf(create({ amountUnit: 'minor', amount: 49.9 }))).toMatchObject({
      message: 'The amount 49.9 in minor units has decimals',
      description: expect.stringContaining('4900 for 49.00 USD'),
    });
  });

  it.each(['Minor', 'cents', null])('refuses the unit %j of an amount', async (unit) => {
    const run = link('create', {
      parameters: inConversation(await open(), { amount: 4900, amountUnit: '={{ $json.unit }}' }),
      input: [{ unit }],
    });
    expect(await failureOf(run)).toMatchObject({
      name: 'NodeOperationError',
      message: `"${unit}" is not a unit of an amount`,
      description: expect.stringMatching(/decimal.*minor/),
    });
    expect(wire().seen).toEqual([]);
  });

  it.each([
    [{ amount: 49, currency: 'USD' }, 4900],
    [{ amount: '49.10', currency: 'usd' }, 4910],
    [{ amount: 4900, currency: 'JPY' }, 4900],
    [{ amount: 4.9, currency: 'KWD' }, 4900],
    [{ amount: 4900, currency: 'KWD', amountUnit: 'minor' }, 4900],
  ])('takes %j as %s minor units', async (amount, expected) => {
    expect(await create(amount)).toMatchObject({ amount: expected });
  });

  it('knows the decimals of each currency as the service does', () => {
    const inNodes = builtFile<typeof amountFile>('shared/amount').decimalsOf;
    for (const currency of CURRENCIES)
      expect([currency, inNodes(currency)]).toEqual([currency, decimalsOf(currency)]);
  });

  it('says of an unknown currency what to do', async () => {
    const error = await failureOf(create({ currency: 'dollars' }));
    expect(`${error.message} ${error.description}`).toMatch(/currency/);
  });

  it('refuses an object as what the customer pays for', async () => {
    expect(await failureOf(create({ description: '={{ { product: "Demo" } }}' }))).toMatchObject({
      name: 'NodeOperationError',
      message: 'The description is an object, not a text',
    });
    expect(wire().seen).toEqual([]);
  });

  it('is read, listed and cancelled; by default the one of the step before', async () => {
    const made = await create();
    expect((await link('get', { input: [made] })).items[0]).toEqual(made);
    expect(
      (await link('get', { input: [{ id: 'evt_1', payment: { id: made.id } }] })).items[0],
    ).toEqual(made);
    expect((await link('cancel', { parameters: byId(made.id as string) })).items[0]).toMatchObject({
      id: made.id,
      status: 'cancelled',
    });
    const ids = async (filters: Record<string, string>) =>
      (await link('getAll', { parameters: { returnAll: true, filters } })).items.map(
        ({ id }) => id,
      );
    expect(await ids({ status: 'cancelled', conversation_id: '' })).toEqual([made.id]);
    expect(await ids({ status: 'open' })).not.toContain(made.id);
    expect((await link('getAll', { parameters: { limit: 1 } })).items).toHaveLength(1);
  });

  it('is marked as paid, once, with a reference', async () => {
    const made = await create();
    const parameters = byId(made.id as string);
    const markPaid = async (more = {}) =>
      (await link('markPaid', { parameters: { ...parameters, ...more } })).items[0]!;
    const paid = await markPaid({ reference: 'Transfer 1182' });
    expect(paid).toMatchObject({
      status: 'paid',
      provider_reference: 'Transfer 1182',
      paid_at: expect.any(String),
    });
    expect(await markPaid()).toMatchObject({ status: 'paid', paid_at: paid.paid_at });
    expect(await failureOf(link('cancel', { parameters }))).toMatchObject({ httpCode: '409' });
  });

  it('says which ID is missing', async () => {
    expect(
      await failureOf(link('get', { parameters: byId('={{ $json.nothing }}') })),
    ).toMatchObject({
      message: 'The ID of the payment link is empty',
      description: expect.stringContaining('Payment Paid'),
    });
    expect(await failureOf(link('get', { parameters: byId('pay_unknown') }))).toMatchObject({
      httpCode: '404',
    });
  });

  it('is found in the list of the editor', async () => {
    const made = await create({ description: 'A rare thing' });
    expect((await search('searchPaymentLinks', 'rare')).results).toEqual([
      {
        name: expect.stringMatching(/^US\$49\.00 · A rare thing · Open · \d{1,2} \w+, \d\d:\d\d$/),
        value: made.id,
      },
    ]);
  });
});
