import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import { startConversation } from './customers.ts';
import { BEN, expectNoReload, markPage, team, useTeam } from './team.ts';

const INSTRUCTIONS = 'Transfer to DE00 0000 0000\nwith the reference.';

describe('payment links', () => {
  useTeam();

  beforeAll(async () => {
    await teamOfTwo(team.service);
    await team.service.api.patch('/api/agent', { enabled: false });
  });
  beforeEach(async () => {
    await team.service.api.put('/api/payment-accounts/manual', {
      settings: { instructions: INSTRUCTIONS },
    });
  });
  const openAs = async (path: string, member?: typeof BEN) => {
    const { page } = await team.openSignedIn(path, {}, member);
    page.on('dialog', (dialog) => void dialog.accept());
    return page;
  };
  afterEach(() => team.service.api.delete('/api/payment-accounts/stripe'));

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const card = (page: Page, amount = 'US$49.00') =>
    page.getByRole('article', { name: `Payment link for ${amount}` });
  const linksOf = async (id: string) =>
    (await team.service.api.get(`/api/payment-links?conversation_id=${id}`)).body.data;

  /** Creates a link by the API, which does not send it. */
  const createLink = async (
    conversationId: string,
    { amount = 4900, currency = 'usd', description = 'Demo' } = {},
  ) => {
    const path = `/api/conversations/${conversationId}/payment-links`;
    const link = { amount, currency, description, provider: 'manual' };
    return (await team.service.api.post(path, link)).body;
  };

  async function openForm(page: Page) {
    await button(page, 'Actions').click();
    await button(page, 'Payment link…').click();
  }

  async function fillInForm(
    page: Page,
    { amount = '49', currency = 'usd', description = 'Demo, one hour' } = {},
  ) {
    await openForm(page);
    await page.getByLabel('Amount').fill(amount);
    await page.getByLabel('Currency').selectOption(currency);
    await page.getByLabel('Description').fill(description);
  }

  it('are set up, sent and paid, and the other window follows by itself', async () => {
    await team.service.api.delete('/api/payment-accounts/manual');
    const { id, path, customer } = await startConversation('Clara');
    const ana = await openAs(path);
    await openForm(ana);
    await ana.getByRole('link', { name: 'Set one up under Payments' }).click();
    await ana.getByRole('link', { name: 'Manual' }).click();
    await ana.getByLabel('Payment instructions').fill(INSTRUCTIONS);
    await button(ana, 'Set up').click();
    await ana.getByText('Saved.').waitFor();

    const ben = await openAs(path, BEN);
    await ben.getByRole('article').getByText('Hello?').waitFor();
    await markPage(ben);
    await ana.goto(team.service.url + path);
    await fillInForm(ana);
    await button(ana, 'Create link').click();
    await ana.getByText('Payment link sent to the customer.').waitFor();
    await card(ben).getByText('open', { exact: true }).waitFor();
    await button(ben, 'Send again: US$49.00').waitFor();
    expect(await ben.getByRole('combobox', { name: 'Stage' }).inputValue()).toBe('payment_pending');

    const link = (await customer.read()).at(-1).text.split('\n').at(-1);
    const { page: customerPage } = await team.open();
    await customerPage.goto(link);
    await customerPage.getByRole('heading', { name: 'US$49.00' }).waitFor();
    await customerPage.getByText('Transfer to DE00 0000 0000').waitFor();

    await button(ana, 'Mark as paid…: US$49.00').click();
    await ana.getByLabel('Reference (optional)').fill('Transfer 1182');
    await ana.getByRole('button', { name: 'Mark as paid: US$49.00', exact: true }).click();
    await ana.getByText('Marked as paid.').waitFor();
    await card(ben).getByText('paid', { exact: true }).waitFor();
    expect(await card(ben).innerText()).toMatch(/marked by ana\. Reference: Transfer 1182/);
    await ben.getByText('ana changed the stage from Payment pending to Customer').waitFor();
    expect(await ben.getByRole('combobox', { name: 'Stage' }).inputValue()).toBe('customer');
    expect(await card(ben).getByRole('button').count()).toBe(0);
    await expectNoReload(ben);
    await customerPage.reload();
    await customerPage.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect(await linksOf(id)).toMatchObject([
      { status: 'paid', provider_reference: 'Transfer 1182' },
    ]);
  });

  it('keep a half-typed reference while the thread changes, and can be copied', async () => {
    const { id, path, customer } = await startConversation('Femi');
    const link = await createLink(id);
    const ana = await openAs(path);
    await ana.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await button(ana, 'Copy the link for US$49.00').click();
    await ana.getByText('Copied').waitFor();
    expect(await ana.evaluate('navigator.clipboard.readText()')).toBe(link.url);
    await button(ana, 'Mark as paid…: US$49.00').click();
    await ana.getByLabel('Reference (optional)').pressSequentially('Tran');
    await customer.write('I have paid.');
    await ana.getByRole('article').getByText('I have paid.').waitFor();
    await ana.getByLabel('Reference (optional)').pressSequentially('sfer 7');
    expect(await ana.getByLabel('Reference (optional)').inputValue()).toBe('Transfer 7');
  });

  it('appear on the payments page by themselves, and can be marked as paid there', async () => {
    const ben = await openAs('/payments?status=open', BEN);
    await markPage(ben);
    const { id } = await startConversation('Gita');
    await createLink(id, { amount: 777, currency: 'eur', description: 'A map' });
    await card(ben, '€7.77').waitFor();
    await team.service.api.put('/api/payment-accounts/stripe', {
      settings: { secret_key: 'sk_test_0123456789' },
    });
    await ben.getByText('not tested', { exact: true }).waitFor();
    await expectNoReload(ben);
    await button(ben, 'Mark as paid…: €7.77').click();
    await ben.getByRole('button', { name: 'Mark as paid: €7.77', exact: true }).click();
    await card(ben, '€7.77').waitFor({ state: 'detached' });
    await ben.getByRole('link', { name: 'Paid', exact: true }).click();
    await card(ben, '€7.77').getByRole('link', { name: 'Gita' }).click();
    await card(ben, '€7.77').getByText('marked by').waitFor();
  });

  it('are created on a phone, where each of two providers has its own expiry field', async () => {
    await team.service.api.put('/api/payment-accounts/stripe', {
      settings: { secret_key: 'sk_test_0123456789' },
    });
    const { id, path } = await startConversation('Hana');
    const ana = await openAs(path);
    await ana.setViewportSize({ width: 360, height: 640 });
    await fillInForm(ana, { amount: '12,50', currency: 'eur' });
    await ana.getByLabel('Expires after, with Stripe').waitFor();
    expect(await ana.getByLabel('Expires after, with Manual').isVisible()).toBe(false);
    await ana.getByRole('radio', { name: 'Manual' }).check();
    expect(await ana.getByLabel('Expires after, with Stripe').isVisible()).toBe(false);
    await ana.getByLabel('Expires after, with Manual').selectOption('7 days');
    await ana.getByLabel('Send the link to the customer now').uncheck();
    await button(ana, 'Create link').click();
    await ana.getByText('Payment link created.').waitFor();
    expect(await linksOf(id)).toMatchObject([
      { amount: 1250, currency: 'eur', provider: 'manual' },
    ]);
    await button(ana, 'Send to the customer: €12.50').click();
    await ana.getByText('Payment link sent to the customer.').waitFor();
  });

  it('work without JavaScript: setting up, creating, sending, cancelling, marking as paid', async () => {
    await team.service.api.delete('/api/payment-accounts/manual');
    const { id, path, customer } = await startConversation('Ines');
    const { page } = await team.openSignedIn('/payments/providers/manual', {
      context: { javaScriptEnabled: false },
    });
    await page.getByLabel('Payment instructions').fill(INSTRUCTIONS);
    await button(page, 'Set up').click();
    await page.getByText('Saved.').waitFor();
    for (const amount of ['10', '20']) {
      await page.goto(team.service.url + path);
      await fillInForm(page, { amount });
      await button(page, 'Create link').click();
      await page.getByText('Payment link sent to the customer.').waitFor();
    }
    expect(await customer.read()).toHaveLength(3);
    await button(page, 'Cancel link: US$10.00').click();
    await card(page, 'US$10.00').getByText('cancelled', { exact: true }).waitFor();
    await button(page, 'Mark as paid…: US$20.00').click();
    await page.getByRole('button', { name: 'Mark as paid: US$20.00', exact: true }).click();
    await card(page, 'US$20.00').getByText('paid', { exact: true }).waitFor();
    expect((await linksOf(id)).map(({ status }: { status: string }) => status)).toEqual([
      'paid',
      'cancelled',
    ]);
  });
});
