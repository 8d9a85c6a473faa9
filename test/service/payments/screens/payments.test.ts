import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import {
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
  type Page,
} from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { startStripeServer, type StripeServer } from '../../../helpers/stripeServer.ts';
import { WEBHOOK_SECRET, setUpStripe } from '../stripe/stripeSupport.ts';
import { INSTRUCTIONS, makeLink, setUpManual, strangersLink } from '../support.ts';

describe('the payments screen', () => {
  let service: TestService;
  let stripe: StripeServer;
  let ana: Browserless;
  let foreign: string;

  beforeAll(async () => {
    stripe = await startStripeServer();
    service = await startTestService({ env: { ...MEMBER_ENV, STRIPE_API_URL: stripe.url } });
    foreign = await strangersLink(service, await service.addWorkspace('Another'));
    await service.api.patch('/api/agent', { enabled: false });
    ana = await signedInBrowser(service.url);
  });
  afterAll(async () => {
    await service?.stop();
    await stripe?.close();
  });

  const accounts = async () => (await service.api.get('/api/payment-accounts')).body.data;

  it('says what is not set up, sets up the manual provider, changes and removes it', async () => {
    const page = await ana.get('/payments');
    expect(page.text).toMatch(/No provider is set up yet.*Stripe .*not set up Manual .*not set up/);
    expect(page.text).toContain('No payment links yet.');
    const save = (s_instructions: string) =>
      ana.post('/payments/providers/manual', { s_instructions });
    expect((await save(' ')).problem('s_instructions')).toBe('Must not be empty.');
    expect(await accounts()).toEqual([]);
    const saved = await save(INSTRUCTIONS.replace('\n', '\r\n'));
    expect(saved.text).toMatch(/Manual set up.*Saved\./);
    expect(await accounts()).toMatchObject([
      { provider: 'manual', settings: { instructions: INSTRUCTIONS } },
    ]);
    expect(saved.html).toContain('with &lt;your> reference &amp; name.</textarea>');
    expect(saved.text).toContain('Yes, remove Manual');
    expect((await ana.post('/payments/providers/manual/remove')).text).toMatch(
      /No provider is set up yet.*Payment provider removed\./,
    );
    expect(await accounts()).toEqual([]);
  });

  it('sets up Stripe: checks the keys’ form, shows the webhook and its events, never shows a secret, keeps what is left empty', async () => {
    const address = '/payments/providers/stripe';
    const first = await ana.get(address);
    expect(first.text).toContain('Stripe cannot reach this service: ');
    expect(first.text).toContain('Save the secret key first.');
    const wrong = await ana.post(address, { s_secret_key: 'pk_live_wrong' });
    expect(wrong.problem('s_secret_key')).toBe(
      'Must be a secret key, such as sk_live_… or sk_test_….',
    );
    const keys = { s_secret_key: stripe.secretKey, s_webhook_secret: WEBHOOK_SECRET };
    const saved = await ana.post(address, keys);
    const [account] = await accounts();
    expect(account.secrets_set).toEqual(['secret_key', 'webhook_secret']);
    expect(saved.html).toContain(`<code id="webhook-address">${account.webhook_url}</code>`);
    expect(saved.text).toContain(
      'checkout.session.completed, checkout.session.async_payment_succeeded, checkout.session.async_payment_failed, checkout.session.expired',
    );
    const pages = [
      saved,
      await ana.get(address),
      await ana.get('/payments'),
      await ana.post(address, { ...keys, s_webhook_secret: 'nonsense' }),
    ];
    for (const { html } of pages) {
      expect(html).not.toContain(stripe.secretKey);
      expect(html).not.toContain(WEBHOOK_SECRET);
    }
    const empty = { s_secret_key: '', s_webhook_secret: '' };
    await ana.post(address, empty);
    expect((await accounts())[0].secrets_set).toEqual(['secret_key', 'webhook_secret']);
    await ana.post(address, { ...empty, remove_webhook_secret: 'on' });
    expect((await accounts())[0].secrets_set).toEqual(['secret_key']);
  });

  it('tests Stripe’s keys, and says in words how it went', async () => {
    const test = () => ana.post('/payments/providers/stripe/test');
    await setUpStripe(service, stripe);
    expect((await ana.get('/payments/providers/stripe')).text).toContain('Stripe not tested');
    const passed = await test();
    expect(passed.text).toMatch(/working.*Tested now : \S.*The keys work\./);
    await setUpStripe(service, stripe, { secret_key: 'sk_test_ofsomebodyelse' });
    const failed = await test();
    expect(failed.text).toMatch(/Stripe failed.*Tested now : \S.*The test failed\./);
    expect(failed.html).not.toContain('sk_test_ofsomebodyelse');
    expect((await ana.get('/payments')).text).toMatch(/Stripe .* failed/);
  });

  it('warns of an address that Stripe cannot reach, and not of one that it can', async () => {
    const warning = 'Stripe cannot reach this service:';
    await service.restart({ PUBLIC_URL: 'http://shop.example.com' });
    ana = await signedInBrowser(service.url);
    expect((await ana.get('/payments/providers/stripe')).text).toContain(
      `${warning} http://shop.example.com does not begin with https://.`,
    );
    await service.restart({ PUBLIC_URL: 'https://shop.example.com' });
    const secure = await signedInBrowser(service.url);
    const page = await secure.get('/payments/providers/stripe');
    expect(page.text).not.toContain(warning);
    expect(page.text).toContain('https://shop.example.com/api/payments/stripe/webhook/');
    expect((await secure.get('/payments/providers/manual')).text).not.toContain(warning);
    await service.restart();
    ana = await signedInBrowser(service.url);
  });

  it('knows no other provider', async () => {
    expect((await ana.get('/payments/providers/paypal')).status).toBe(404);
    expect((await ana.post('/payments/providers/paypal', { s_x: 'y' })).status).toBe(404);
    expect((await ana.post('/payments/providers/constructor/test')).status).toBe(404);
  });

  describe('the list of links', () => {
    let id: string;
    let links: { id: string }[];
    const shown = ({ html }: Page) =>
      [...html.matchAll(/<article class="payment" id="(pay_\w+)"/g)].map(([, link]) => link);

    beforeAll(async () => {
      await setUpManual(service);
      const customer = await chatCustomer(service.url, { name: 'Clara <b>' });
      ({ conversation_id: id } = await customer.write('hello'));
      links = [];
      for (let n = 0; n < 22; n++)
        links.unshift(await makeLink(service, id, { provider: 'manual' }));
    });

    it('shows the newest first, twenty at a time, each with its conversation, and none of another workspace', async () => {
      const page = await ana.get('/payments');
      expect(shown(page)).toEqual(links.slice(0, 20).map((link) => link.id));
      expect(page.html).toContain(`href="/conversations/${id}"><bdi>Clara &lt;b></bdi></a>`);
      expect(page.html).not.toContain(foreign);
      const older = /id="older" href="([^"]*)"/.exec(page.html)![1]!;
      expect(shown(await ana.get(older.replaceAll('&amp;', '&')))).toEqual(
        links.slice(20).map((link) => link.id),
      );
    });

    it('is filtered by status, and a link is marked or cancelled there, which keeps the filter', async () => {
      const [first, second] = links.map((link) => link.id);
      await ana.get('/payments?status=open');
      const marking = { status: 'open', reference: 'T1' };
      const marked = await ana.post(`/payments/links/${first}/mark-paid`, marking);
      expect(marked.path).toBe('/payments?status=open&notice=payment-marked');
      expect(shown(marked)).not.toContain(first);
      const cancelled = await ana.post(`/payments/links/${second}/cancel`, { status: 'open' });
      expect(cancelled.path).toBe('/payments?status=open&notice=payment-cancelled');
      expect(shown(await ana.get('/payments?status=paid'))).toEqual([first]);
      expect(shown(await ana.get('/payments?status=cancelled'))).toEqual([second]);
      expect((await ana.get('/payments?status=failed')).text).toContain(
        'No payment link is failed.',
      );
      expect(shown(await ana.get('/payments?status=nonsense'))).toHaveLength(20);
      expect((await ana.post(`/payments/links/${second}/mark-paid`)).path).toBe(
        '/payments?notice=payment-already-ended',
      );
    });
  });

  it('decides about the agent’s payment links on the Agent page', async () => {
    const selected = async () =>
      /<option value="([a-z]{3})" selected[^>]*>(?:Off|Ask a person|Let the agent)/.exec(
        (await ana.get('/agent')).html,
      )?.[1];
    expect(await selected()).toBe('ask');
    const name = (await ana.get('/agent')).value('name')!;
    const save = (payment_links: string) =>
      ana.post('/agent', {
        name,
        greeting: '',
        instructions: '',
        language_en: 'on',
        preferred: 'en',
        payment_links,
      });
    await save('off');
    expect([await selected(), (await service.api.get('/api/agent')).body.payment_links]).toEqual([
      'off',
      'off',
    ]);
    const wrong = await save('always');
    expect([wrong.status, wrong.problem('payment_links')]).toEqual([
      400,
      'Must be one of off, ask, allow.',
    ]);
  });
});
