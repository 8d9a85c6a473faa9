import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startTestService, type TestService } from '../helpers/service.ts';
import { startStripeServer, type StripeServer } from '../helpers/stripeServer.ts';
import { linkIn, makeLink, newConversation } from '../service/payments/support.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { launchBrowser, openWindow, type BrowserWindow, type WindowOptions } from './browser.ts';

const INSTRUCTIONS = [
  'Transfer the amount to:',
  'Acme Ltd · IBAN DE00 0000 0000 0000 0000 00',
  '',
  'Write the reference with it. https://example.com/' + 'long'.repeat(40),
].join('\n');

const sendJson = (response: ServerResponse, body: unknown) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

describe('a customer who pays', () => {
  let service: TestService;
  let stripe: StripeServer;
  let browser: Browser;
  let window: BrowserWindow;
  beforeAll(async () => {
    stripe = await startStripeServer();
    service = await startTestService({
      env: { STRIPE_API_URL: stripe.url, BOOTSTRAP_WORKSPACE: 'Acme Outdoor' },
    });
    await service.api.put('/api/payment-accounts/stripe', {
      settings: { secret_key: stripe.secretKey },
    });
    await service.api.put('/api/payment-accounts/manual', {
      settings: { instructions: INSTRUCTIONS },
    });
    browser = await launchBrowser();
  });
  afterEach(() => window.close());
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await stripe?.close();
  });

  const open = async (url: string, options: WindowOptions = {}) => {
    window = await openWindow(browser, {
      width: 360,
      height: 740,
      ...options,
      context: { javaScriptEnabled: false, ...options.context },
    });
    window.allowErrors(/favicon/); // the provider's page has none
    await window.page.goto(url);
    return window.page;
  };
  const newLink = async (wanted: Record<string, unknown> = {}) =>
    makeLink(service, await newConversation(service), wanted);

  it.each([true, false])(
    'is led to Stripe, pays, comes back, and sees it by itself although no webhook comes (scripts: %s)',
    async (javaScriptEnabled) => {
      const link = await newLink();
      const page = await open(link.url, { context: { javaScriptEnabled } });
      expect(page.url()).toBe(stripe.sessionOf(link.id).url);
      let checks = 0;
      stripe.answerAll((response, _request, proceed) => {
        checks++;
        // The first answer comes late, when the customer is back already.
        setTimeout(() => sendJson(response, proceed().body), checks === 1 ? 1000 : 0);
      });
      await page.getByRole('button', { name: 'Pay' }).click();
      await page.getByRole('heading', { name: 'Not paid yet' }).waitFor();
      await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
      stripe.answerAll(null);
      await linkIn(service, link.id, 'paid');
      expect(new URL(page.url()).searchParams.has('reload')).toBe(!javaScriptEnabled);
    },
  );

  it.each([true, false])(
    'waits while Stripe’s page is being prepared, and is then led there (scripts: %s)',
    async (javaScriptEnabled) => {
      const conversationId = await newConversation(service);
      const { promise: isReleased, resolve: release } = Promise.withResolvers<undefined>();
      stripe.answerWith(async (response, _request, proceed) => {
        await isReleased;
        sendJson(response, proceed().body);
      });
      const made = makeLink(service, conversationId);
      const link = await waitFor(
        'the link',
        async () =>
          (await service.api.get(`/api/payment-links?conversation_id=${conversationId}`)).body
            .data[0],
      );
      const page = await open(link.url, { context: { javaScriptEnabled } });
      await page.getByRole('heading', { name: 'Getting ready' }).waitFor();
      if (javaScriptEnabled) expect(await window.axe()).toEqual([]);
      release(undefined);
      await page.waitForURL(/\/c\/pay\//);
      expect(page.url()).toBe(stripe.sessionOf((await made).id).url);
    },
  );

  it('comes back without paying, and can pay after all', async () => {
    const link = await newLink();
    const page = await open(link.url);
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByRole('link', { name: 'Pay now' }).click();
    expect(page.url()).toBe(stripe.sessionOf(link.id).url);
  });

  it.each([360, 1440])('reads amount, instructions and reference at %i px', async (width) => {
    const link = await newLink({
      provider: 'manual',
      amount: 1_234_567_890,
      currency: 'kwd',
      description: 'Two tents, '.repeat(15),
    });
    const page = await open(link.url, {
      width,
      context: { javaScriptEnabled: true },
    });
    await page.getByRole('heading', { name: 'KWD 1,234,567.890' }).waitFor();
    await page.getByText(link.id).waitFor();
    expect(await page.getByText('Transfer the amount to:').innerText()).toBe(INSTRUCTIONS);
    expect([await window.axeLightAndDark(), await window.overflow()]).toEqual([[], []]);
    await window.screenshot(`pay-manual-${width}`);
    await service.api.post(`/api/payment-links/${link.id}/mark-paid`, {});
    await page.reload();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect(await window.axeLightAndDark()).toEqual([]);
    await window.screenshot(`pay-paid-${width}`);
  });

  it('reads that a link is cancelled, and that an address is wrong', async () => {
    const link = await newLink();
    const page = await open(`${link.url}?from=provider`, { context: { javaScriptEnabled: true } });
    expect(await window.axeLightAndDark()).toEqual([]);
    await window.screenshot('pay-back');
    await service.api.post(`/api/payment-links/${link.id}/cancel`);
    await page.goto(link.url);
    await page.getByRole('heading', { name: 'Cancelled' }).waitFor();
    expect(await window.axeLightAndDark()).toEqual([]);
    window.allowErrors(/404/);
    await page.goto(`${link.url}x`);
    await page.getByRole('heading', { name: 'There is nothing to pay here' }).waitFor();
    expect([await window.axeLightAndDark(), await window.overflow()]).toEqual([[], []]);
    await window.screenshot('pay-none');
  });
});
