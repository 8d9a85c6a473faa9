// The form of a payment link beside a thread, and the link's card in it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { startGraphServer, type GraphServer } from '../../../helpers/graphServer.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import {
  startStripeServer,
  stripeError,
  type StripeServer,
} from '../../../helpers/stripeServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { connectWhatsApp } from '../../channels/whatsapp/whatsappTalk.ts';
import { WEBHOOK_SECRET, setUpStripe } from '../../payments/stripe/stripeSupport.ts';
import {
  linkIn,
  linksOf,
  makeLink,
  requestLink,
  setUpManual,
  strangersLink,
} from '../../payments/support.ts';

const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'\u202Egnp.exe';
const DAY_S = 24 * 3600;

/** What the form of a link holds when nothing is changed but the amount. */
const FORM = {
  amount: '49',
  currency: 'usd',
  description: 'Demo, one hour',
  provider: 'manual',
  expires_manual: String(30 * DAY_S),
};

/** What the form says of an amount that it does not take. */
const AMOUNT_RULES = {
  usd: 'Must be an amount of USD such as 49.00, with at most 2 decimals and no separators between thousands, more than 0 and at most 9999999999.99.',
  jpy: 'Must be an amount of JPY such as 49, without decimals or separators, more than 0 and at most 999999999999.',
  kwd: 'Must be an amount of KWD such as 49.000, with at most 3 decimals and no separators between thousands, more than 0 and at most 999999999.999.',
};

describe('a payment link in a conversation, on the screen', () => {
  let service: TestService;
  let stripe: StripeServer;
  let graph: GraphServer;
  let ana: Browserless;
  let foreign: string;
  let aheadMs = 0;
  /** How long each request would wait for the provider's page, ms. */
  const waitsMs: number[] = [];
  /** How long requests wait instead; null: as long as they would. */
  let shorterMs: number | null = null;
  const clock = { now: () => new Date(Date.now() + aheadMs) };

  beforeAll(async () => {
    [stripe, graph] = await Promise.all([startStripeServer(), startGraphServer()]);
    service = await startTestService({
      clock,
      env: { ...MEMBER_ENV, STRIPE_API_URL: stripe.url, GRAPH_API_URL: graph.url },
      paymentWait: (ms) => {
        waitsMs.push(ms);
        return shorterMs ?? ms;
      },
    });
    foreign = await strangersLink(service, await service.addWorkspace('Another'));
    await service.api.patch('/api/agent', { enabled: false });
    ana = await signedInBrowser(service.url);
  });
  beforeEach(() => setUpManual(service));
  afterEach(async () => {
    aheadMs = 0;
    await service.api.delete('/api/payment-accounts/stripe');
  });
  afterAll(async () => {
    await service?.stop();
    await stripe?.close();
    await graph?.close();
  });

  async function conversation() {
    const customer = await chatCustomer(service.url, { name: 'Clara' });
    const { conversation_id: id } = await customer.write('How do I pay?');
    const path = `/conversations/${id}`;
    return { customer, id, path, form: `${path}/payment-link` };
  }
  const close = (id: string) =>
    service.api.post(`/api/conversations/${id}/close`, { verdict: 'unknown', summary: 'Over.' });
  /** Opens the form and sends it. */
  const send = async (form: string, values: Record<string, string> = {}) => {
    const token = (await ana.get(form)).value('form')!;
    return ana.post(form, { ...FORM, form: token, ...values });
  };
  /** A conversation with a link. `card` begins the addresses of what can be done with the link. */
  const withLink = async (values: Record<string, string> = {}) => {
    const talk = await conversation();
    await send(talk.form, values);
    const [link] = await linksOf(service, talk.id);
    return { ...talk, link, card: `${talk.path}/payments/${link.id}` };
  };

  it('cannot be made while no provider is set up; the form says where that is done', async () => {
    await service.api.delete('/api/payment-accounts/manual');
    const { form, id } = await conversation();
    const page = await ana.get(form);
    expect(page.text).toContain('No payment provider is set up yet');
    expect(page.html).toContain('<a href="/payments">Set one up under Payments</a>');
    expect((await ana.post(form, FORM)).status).toBe(400);
    expect(await linksOf(service, id)).toEqual([]);
  });

  it('proposes the currency of the same customer’s last link, and nothing from anybody else’s', async () => {
    const [first, second] = [await conversation(), await conversation()];
    const currency = async (form: string) => {
      const { html } = await ana.get(form);
      const [select] = /<select[^>]*name="currency".*?<\/select>/s.exec(html)!;
      return /value="(\w*)" selected/.exec(select)?.[1] ?? '';
    };
    await send(first.form, { currency: 'ars' });
    expect(await currency(first.form)).toBe('ars');
    expect(await currency(second.form)).toBe('');
    await close(first.id);
    const { conversation_id: next } = await first.customer.write('One more');
    expect(next).not.toBe(first.id);
    expect(await currency(`/conversations/${next}/payment-link`)).toBe('ars');
  });

  it('is made and sent as a message of the member, who then has the conversation; the customer can open it', async () => {
    const { customer, form, id, path } = await conversation();
    expect((await ana.get(path)).html).toContain(`href="${form}"`);
    const page = await send(form, { send: 'on' });
    const [link] = await linksOf(service, id);
    expect(page.path).toBe(`${path}?notice=payment-sent#${link.id}`);
    expect(page.text).toContain('Payment link sent to the customer.');
    expect(link).toMatchObject({
      amount: 4900,
      currency: 'usd',
      description: 'Demo, one hour',
      provider: 'manual',
      status: 'open',
      created_by: { type: 'team_member', name: 'ana' },
    });
    expect(Date.parse(link.expires_at) - Date.parse(link.created_at)).toBe(30 * DAY_S * 1000);
    expect((await customer.read()).at(-1).text).toBe(`Demo, one hour\nUS$49.00\n${link.url}`);
    expect(await (await fetch(link.url)).text()).toContain('Demo, one hour');
    expect((await service.api.get(`/api/conversations/${id}`)).body).toMatchObject({
      status: 'human_active',
      funnel_stage: 'payment_pending',
    });
    expect(page.text).toMatch(
      /Payment link US\$49\.00 open Demo, one hour Open until 2\d{3}-\d\d-\d\d [\d:]+ UTC \. Manual, created by ana now http\S+ Copy Send again Mark as paid….*Cancel link/,
    );
  });

  it('is only made where it is not to be sent, and sent later from its card, once for one form', async () => {
    const { customer, form, id, path } = await conversation();
    const page = await send(form);
    expect(page.text).toContain('Payment link created.');
    const [link] = await linksOf(service, id);
    expect(await customer.read()).toHaveLength(1);
    expect((await service.api.get(`/api/conversations/${id}`)).body.status).toBe('ai_active');
    const after = page.value('after')!;
    const again = await Promise.all(
      [1, 2].map(() => ana.post(`${path}/payments/${link.id}/send`, { after })),
    );
    expect(again.map(({ path: at }) => at)).toEqual(
      Array(2).fill(`${path}?notice=payment-sent#${link.id}`),
    );
    expect((await customer.read()).map(({ text }: { text: string }) => text)).toEqual([
      'How do I pay?',
      `Demo, one hour\nUS$49.00\n${link.url}`,
    ]);
    // The card has another form now, so sending it is meant as another confirmation.
    const next = (await ana.get(path)).value('after')!;
    await ana.post(`${path}/payments/${link.id}/send`, { after: next });
    expect(await customer.read()).toHaveLength(3);
  });

  it('two clicks on one form make one link and send one message; the same form with other contents makes another link', async () => {
    const { customer, form, id } = await conversation();
    const token = (await ana.get(form)).value('form')!;
    const twice = await Promise.all(
      [1, 2].map(() => ana.post(form, { ...FORM, form: token, send: 'on' })),
    );
    expect(new Set(twice.map(({ path }) => path)).size).toBe(1);
    await ana.post(form, { ...FORM, form: token, send: 'on' });
    expect(await linksOf(service, id)).toHaveLength(1);
    expect(await customer.read()).toHaveLength(2);
    await ana.post(form, { ...FORM, form: token, amount: '50' });
    expect((await linksOf(service, id)).map(({ amount }: { amount: number }) => amount)).toEqual([
      5000, 4900,
    ]);
  });

  it.each([
    ['jpy', '4900', 4900, 'JP¥4,900'],
    ['kwd', '4.9', 4900, 'KWD 4.900'],
    ['kwd', '4.925', 4925, 'KWD 4.925'],
    ['usd', '0,05', 5, 'US$0.05'],
  ])('takes %s %s as %d in minor units, and shows %s', async (currency, amount, minor, shown) => {
    const { form, id } = await conversation();
    const page = await send(form, { currency, amount });
    expect((await linksOf(service, id))[0]).toMatchObject({ amount: minor, currency });
    expect(page.text.replaceAll('\u00a0', ' ')).toContain(`Payment link ${shown} open`);
    // The next form begins with the currency that was used last.
    expect((await ana.get(form)).html).toMatch(new RegExp(`<option value="${currency}" selected`));
  });

  it.each([
    ['usd', ' '],
    ['usd', '0.00'],
    ['usd', '-5'],
    ['usd', '4.905'],
    ['usd', '1,234'],
    ['usd', '1,234.50'],
    ['usd', '$49'],
    ['usd', '1e3'],
    ['usd', '99999999999'],
    ['jpy', '49.5'],
    ['kwd', '1.2345'],
    ['kwd', '4,925'],
  ] as const)(
    'refuses %s “%s” in words, keeps what was typed, and makes nothing',
    async (currency, amount) => {
      const { form, id } = await conversation();
      const page = await send(form, { currency, amount, description: 'Kept' });
      expect([page.status, page.problem('amount')]).toEqual([400, AMOUNT_RULES[currency]]);
      expect([page.value('amount'), page.value('description')]).toEqual([amount, 'Kept']);
      expect(await linksOf(service, id)).toEqual([]);
    },
  );

  it.each([
    ['currency', { currency: 'xxx' }, 'Choose a currency from the list.'],
    ['description', { description: ' ' }, 'Must not be empty.'],
    ['description', { description: 'x'.repeat(201) }, 'Must have at most 200 characters.'],
    ['expires_manual', { expires_manual: '59' }, 'Choose when the link expires.'],
  ])('says beside %s what is wrong with it', async (field, values, words) => {
    const { form, id } = await conversation();
    const page = await send(form, values);
    expect([page.status, page.problem(field)]).toEqual([400, words]);
    expect(await linksOf(service, id)).toEqual([]);
  });

  it('shows a hostile description as the text that it is, in the thread, the chat and the list', async () => {
    const { form, customer } = await conversation();
    const page = await send(form, { description: HOSTILE, send: 'on' });
    for (const each of [page, await ana.get('/payments')]) {
      expect(each.html).not.toContain('<script>alert');
      expect(each.html).not.toContain('<img src=x');
      expect(each.text).toContain(HOSTILE);
    }
    expect((await customer.read()).at(-1).text).toContain(HOSTILE);
  });

  it('marked as paid: says by whom and with what reference; the customer’s page and the stage follow, and nothing can be done with it any more', async () => {
    const { id, link, card } = await withLink();
    const page = await ana.post(`${card}/mark-paid`, { reference: ' Transfer <1182> ' });
    expect(page.text).toContain('Marked as paid.');
    expect(page.text).toMatch(
      /Payment link US\$49\.00 paid Demo, one hour Paid now , marked by ana \. Reference: Transfer <1182> Manual, created by ana now/,
    );
    expect(page.html).not.toMatch(/mark-paid|payments\/pay_\w+\/(cancel|send)/);
    expect((await service.api.get(`/api/conversations/${id}`)).body.funnel_stage).toBe('customer');
    expect(await (await fetch(link.url)).text()).toContain('<h2>Paid</h2>');
    expect((await ana.post(`${card}/cancel`)).text).toContain(
      'This payment link was already paid or has ended.',
    );
    expect((await service.api.get(`/api/payment-links/${link.id}`)).body).toMatchObject({
      status: 'paid',
      provider_reference: 'Transfer <1182>',
    });
  });

  it('acted on from an earlier page of the thread leads back to that page', async () => {
    const { id, path, link, card } = await withLink();
    for (let n = 0; n < 60; n += 1)
      await service.api.post(`/api/conversations/${id}/messages`, { text: `${n}` });
    const { html } = await ana.get(`${path}?before=10`);
    const actions = ['send', 'mark-paid', 'cancel'].map((verb) => `${card}/${verb}?before=10`);
    for (const action of actions) expect(html).toContain(`action="${action}"`);
    const page = await ana.post(actions.at(-1)!);
    expect(page.path).toBe(`${path}?before=10&notice=payment-cancelled#${link.id}`);
    expect(page.html).toContain(`id="${link.id}"`);
  });

  it('marked as paid a second time: says who was first, and changes nothing', async () => {
    const { link, card } = await withLink();
    await service.api.post(`/api/payment-links/${link.id}/mark-paid`, { reference: 'theirs' });
    const page = await ana.post(`${card}/mark-paid`, { reference: 'mine' });
    expect(page.text).toContain(
      'This payment link was already paid or has ended. Nothing was changed.',
    );
    expect(page.text).toMatch(/marked by Default key \(API\) \. Reference: theirs/);
    const long = await ana.post(`${card}/mark-paid`, { reference: 'x'.repeat(201) });
    expect(long.text).toContain('Not marked as paid');
  });

  it('cancelled: says so, and can neither be paid nor sent', async () => {
    const { id, card, customer } = await withLink();
    const page = await ana.post(`${card}/cancel`);
    expect(page.text).toContain('Payment link cancelled.');
    expect(page.text).toContain(
      'Payment link US$49.00 cancelled Demo, one hour Cancelled. It can no longer be paid.',
    );
    for (const verb of ['send', 'mark-paid'])
      expect((await ana.post(`${card}/${verb}`, { after: '1' })).path).toContain(
        'payment-already-ended',
      );
    expect(await customer.read()).toHaveLength(1);
    expect((await linksOf(service, id))[0].status).toBe('cancelled');
  });

  it('expired: says so, and can still be marked as paid when a transfer comes late', async () => {
    const { path, link, card } = await withLink({ expires_manual: String(3600) });
    aheadMs = 2 * 3_600_000;
    await linkIn(service, link.id, 'expired');
    expect((await ana.get(path)).text).toMatch(
      /Payment link US\$49\.00 expired Demo, one hour Expired 1 hour ago without being paid\..*Mark as paid…/,
    );
    const late = await ana.post(`${card}/mark-paid`);
    expect(late.text).toContain('Payment link US$49.00 paid');
  });

  it('in a closed conversation none is made, and none is sent', async () => {
    const { form, id, card, customer } = await withLink();
    const token = (await ana.get(form)).value('form')!;
    await close(id);
    expect((await ana.post(form, { ...FORM, form: token })).text).toContain(
      'This conversation was already closed. Nothing was changed.',
    );
    expect((await ana.get(form)).html).not.toContain('name="amount"');
    expect((await ana.post(`${card}/send`, { after: '1' })).text).toContain(
      'The payment link was not sent because the conversation is closed.',
    );
    expect(await linksOf(service, id)).toHaveLength(1);
    expect(await customer.read()).toHaveLength(1);
    // What is owed can still be paid.
    expect((await ana.post(`${card}/mark-paid`)).text).toContain('Marked as paid.');
  });

  it('outside of the channel’s window it is kept and not sent; it is sent once the customer has written again', async () => {
    const account = await connectWhatsApp(service, graph);
    const { conversationId: id } = await account.customer('14155552999', clock.now());
    const [path, form] = [`/conversations/${id}`, `/conversations/${id}/payment-link`];
    aheadMs = 25 * 3_600_000;
    const page = await send(form, { send: 'on' });
    expect(page.text).toContain('Payment link created but not sent');
    const [link] = await linksOf(service, id);
    expect(link.status).toBe('open');
    expect(graph.taken).toHaveLength(0);
    await account.write('14155552999', 'I am back', clock.now());
    const back = await waitFor('the message', async () => {
      const now = await ana.get(path);
      return now.text.includes('I am back') && now;
    });
    await ana.post(`${path}/payments/${link.id}/send`, { after: back.value('after')! });
    await waitFor('the link at WhatsApp', () =>
      graph.texts().includes(`Demo, one hour\nUS$49.00\n${link.url}`),
    );
  });

  it('of a conversation or a link of another workspace, or of another conversation, is not there', async () => {
    const { id, path, link } = await withLink();
    const { path: otherPath } = await conversation();
    for (const verb of ['send', 'cancel', 'mark-paid']) {
      expect((await ana.post(`${path}/payments/${foreign}/${verb}`)).status).toBe(404);
      expect((await ana.post(`${otherPath}/payments/${link.id}/${verb}`)).status).toBe(404);
    }
    for (const verb of ['cancel', 'mark-paid'])
      expect((await ana.post(`/payments/links/${foreign}/${verb}`)).status).toBe(404);
    expect((await ana.get('/conversations/conv_unknown/payment-link')).status).toBe(404);
    expect((await ana.post('/conversations/conv_unknown/payment-link', FORM)).status).toBe(404);
    expect((await linksOf(service, id))[0].status).toBe('open');
  });

  describe('through Stripe', () => {
    let webhookUrl: string;
    beforeEach(async () => {
      webhookUrl = await setUpStripe(service, stripe);
    });
    afterEach(() => {
      stripe.sendWebhooksTo(null);
      stripe.answerAll(null);
    });
    /** A link in a new conversation; Stripe tells the service what becomes of it. */
    const watchedLink = async () => {
      const { id, path } = await conversation();
      const link = await makeLink(service, id);
      stripe.sendWebhooksTo({ url: webhookUrl, secret: WEBHOOK_SECRET });
      return { path, link, session: stripe.sessionOf(link.id).id };
    };
    const FORM_STRIPE = { provider: 'stripe', expires_stripe: String(DAY_S), send: 'on' };

    it('is sent once Stripe has made its page; the card says when it is paid', async () => {
      const { customer, form, id, path } = await conversation();
      expect((await ana.get(form)).text).toContain('Payment method Stripe');
      const page = await send(form, FORM_STRIPE);
      const [link] = await linksOf(service, id);
      expect(page.text).toContain('Payment link sent to the customer.');
      expect((await customer.read()).at(-1).text).toContain(link.url);
      expect(page.html).not.toContain('mark-paid');
      await stripe.pay(stripe.sessionOf(link.id).id);
      // No webhook arrives here: the customer who comes back makes the service ask.
      await fetch(`${link.url}?from=provider`);
      await linkIn(service, link.id, 'paid');
      expect((await ana.get(path)).text).toContain(
        'Paid now , confirmed by Stripe. Stripe, created by ana',
      );
    });

    it('that Stripe refuses is not sent, and its card says why', async () => {
      stripe.answerWith(
        stripeError(400, {
          type: 'invalid_request_error',
          message: 'Your account cannot make <b>live</b> charges.',
        }),
      );
      const { customer, form } = await conversation();
      const page = await send(form, FORM_STRIPE);
      expect(page.text).toContain(
        'The provider refused to create the payment link. Nothing was sent.',
      );
      expect(page.text).toMatch(
        /Payment link US\$49\.00 failed Demo, one hour Stripe refused to create the payment page: .*Your account cannot make <b>live<\/b> charges\./,
      );
      expect(await customer.read()).toHaveLength(1);
    });

    it('paid by bank debit: its card says what is waited for and lets nobody send it again, then that the bank refused', async () => {
      const { path, link, session } = await watchedLink();
      expect((await ana.get(path)).text).toContain('Send to the customer');
      await stripe.pay(session, { async: true });
      const waiting = await ana.get(path);
      expect(waiting.text).toMatch(
        /The customer paid at Stripe .*\. Their bank still has to confirm the payment/,
      );
      expect(waiting.text).not.toMatch(/Send to the customer|Cancel link/);
      // From a page that was opened before.
      expect((await ana.post(`${path}/payments/${link.id}/send`, { after: '9' })).path).toContain(
        'payment-already-ended',
      );
      await stripe.settle(session, 'failed');
      const { text } = await ana.get(path);
      expect(text).toMatch(
        /Payment link US\$49\.00 failed Demo, one hour The customer's bank refused the payment, so nothing was paid\. Make a new link\./,
      );
      expect(text).not.toContain('refused to create the payment page');
    });

    it('paid by bank debit and cancelled: its card says that the payment would count, until the bank has refused it', async () => {
      const { path, link, session } = await watchedLink();
      await stripe.pay(session, { async: true });
      await service.api.post(`/api/payment-links/${link.id}/cancel`);
      expect((await ana.get(path)).text).toContain(
        'Cancelled, but the customer already paid at Stripe.',
      );
      await stripe.settle(session, 'failed');
      expect((await ana.get(path)).text).toContain('Cancelled. It can no longer be paid.');
    });

    it('paid by bank debit and cancelled: its card still says so when Stripe is not set up any more, and the payment counts once it is', async () => {
      const { path, link, session } = await watchedLink();
      await stripe.pay(session, { async: true });
      await service.api.post(`/api/payment-links/${link.id}/cancel`);
      const other = await makeLink(service, (await conversation()).id);
      await service.api.delete('/api/payment-accounts/stripe');
      aheadMs = 3_600_000;
      // Its work makes the loop look for what is due.
      await service.api.post(`/api/payment-links/${other.id}/cancel`);
      const card = await waitFor('the card to say why', async () => {
        const { text } = await ana.get(path);
        return text.includes('Stripe is no longer set up here') && text;
      });
      expect(card).toContain('Cancelled, but the customer already paid at Stripe.');
      const url = await setUpStripe(service, stripe);
      stripe.sendWebhooksTo({ url, secret: WEBHOOK_SECRET });
      await stripe.settle(session, 'succeeded');
      await linkIn(service, link.id, 'paid');
    });

    it('whose time is over is not sent any more while Stripe has still to say how it ended', async () => {
      const { customer, id, path } = await conversation();
      const link = await makeLink(service, id);
      aheadMs = DAY_S * 1000 + 5000;
      const { text } = await ana.get(path);
      expect(text).toMatch(
        /Payment link US\$49\.00 open Demo, one hour Expired now \. Checking with Stripe whether it was paid\./,
      );
      expect(text).not.toMatch(/Send to the customer|Cancel link/);
      await ana.post(`${path}/payments/${link.id}/send`, { after: '9' });
      expect(await customer.read()).toHaveLength(1);
    });

    it('that Stripe cannot make at the moment says why on its card, until it is made', async () => {
      stripe.answerAll(stripeError(503));
      const { id, path } = await conversation();
      const made = requestLink(service, id);
      await waitFor('the card to say why', async () =>
        (await ana.get(path)).text.includes('Stripe could not do this at the moment (status 503).'),
      );
      stripe.answerAll(null);
      aheadMs += 2_100;
      await made;
      await linkIn(service, (await linksOf(service, id))[0].id, 'open');
      expect((await ana.get(path)).text).not.toContain('status 503');
    });

    it('that Stripe does not take is refused beside its field', async () => {
      const { form, id } = await conversation();
      const page = await send(form, { ...FORM_STRIPE, amount: '9999999999' });
      expect(page.status).toBe(400);
      expect(page.problem('amount')).toMatch(/^Must be /);
      expect(await linksOf(service, id)).toEqual([]);
    });

    it('that takes long is shown as being prepared, is not sent until then, and can be sent once it is open', async () => {
      stripe.answerAll(stripeError(500, { type: 'api_error', message: 'Down.' }));
      const { customer, form, id, path } = await conversation();
      shorterMs = 300;
      try {
        const page = await send(form, FORM_STRIPE);
        expect(waitsMs.at(-1)).toBe(8_000);
        expect(page.text).toContain('The payment link is being created and has not been sent yet.');
        expect(page.text).toMatch(
          /Payment link US\$49\.00 being created .*Waiting for Stripe to create the payment page\..*Cancel link/,
        );
        expect(await customer.read()).toHaveLength(1);
      } finally {
        shorterMs = null;
        stripe.answerAll(null);
      }
      aheadMs += 2_100;
      const [link] = await linksOf(service, id);
      await linkIn(service, link.id, 'open');
      await ana.post(`${path}/payments/${link.id}/send`, { after: '1' });
      expect((await customer.read()).at(-1).text).toContain(link.url);
    }, 60_000);
  });
});
