import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import {
  accept,
  graphError,
  startGraphServer,
  takeAndCut,
  takeAndReset,
  tooMany,
  type GraphReply,
  type GraphServer,
} from '../../../helpers/graphServer.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  APP_SECRET,
  connectWhatsApp,
  type Customer,
  type WhatsAppAccount,
} from '../whatsapp/whatsappTalk.ts';

const HOUR_MS = 3_600_000;
const RETRIES = { CHANNEL_RETRY_DELAYS_MS: '20,30,40,50', AGENT_QUIET_MS: '0' };

let phones = 0;
const newPhone = () => `1415555${String(2000 + phones++)}`;
const outage: GraphReply = graphError(503, {
  code: 131016,
  message: '(#131016) Service overloaded',
});
const refusal: GraphReply = graphError(400, {
  code: 131026,
  message: '(#131026) Message undeliverable',
});

describe('a message to a customer on WhatsApp', () => {
  let graph: GraphServer;
  let service: TestService;
  let account: WhatsAppAccount;
  let browser: Browserless;
  let aheadMs = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  let logged = '';

  beforeAll(async () => {
    graph = await startGraphServer();
    const env = { ...MEMBER_ENV, GRAPH_API_URL: graph.url, ...RETRIES };
    const log = pino({ level: 'info' }, { write: (line) => void (logged += line) });
    service = await startTestService({ clock, env, log });
    await service.api.patch('/api/agent', { enabled: false });
    browser = await signedInBrowser(service.url);
  });
  beforeEach(async () => {
    graph.answerBy(() => accept);
    account = await connectWhatsApp(service, graph);
  });
  afterEach(async () => {
    aheadMs = 0;
    expect(graph.faults).toEqual([]);
    await service.api.delete(`/api/channels/${account.channelId}`);
  });
  afterAll(async () => {
    await service?.stop();
    await graph?.close();
  });

  /** A customer who has written. `path` is where the team reads it. */
  const begin = async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    return { phone, customer, path: `/conversations/${customer.conversationId}` };
  };
  const requestsTo = (phone: string) => graph.requests.filter(({ body }) => body.to === phone);
  const takenFor = (phone: string) => graph.taken.filter(({ body }) => body.to === phone);
  const textsTo = (phone: string) => takenFor(phone).map(({ body }) => body.text.body);

  it('arrives once, as it was written, and is sent; receipts move it on to delivered and read', async () => {
    const { phone, customer } = await begin();
    const text = 'Tuesday at ten it is. 🎉\nSee https://example.com';
    const { status, body } = await customer.reply(text);
    expect([status, body.message.delivery]).toEqual([201, { state: 'pending', error: null }]);
    expect(await customer.delivery(1, 'sent')).toEqual({ state: 'sent', error: null });
    expect(requestsTo(phone).map((request) => request.body)).toEqual([
      {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: phone,
        type: 'text',
        text: { preview_url: false, body: text },
        biz_opaque_callback_data: expect.stringMatching(/^out_[0-9A-Z]{26}$/),
      },
    ]);
    const [taken] = takenFor(phone);
    await account.tell(taken!, 'read');
    await account.tell(taken!, 'delivered');
    await account.tell(taken!, 'failed');
    expect(await customer.deliveries()).toEqual([{ text, state: 'read', error: null }]);
  });

  it('arrives as several messages, split at the ends of sentences, when it is longer than WhatsApp allows', async () => {
    const { phone, customer } = await begin();
    const sentences = Array.from(
      { length: 150 },
      (_, n) =>
        `This is sentence number ${n} of a long explanation, which nobody wants to see cut.`,
    );
    expect((await customer.reply(sentences.join(' '))).status).toBe(201);
    await customer.delivery(1, 'sent');
    const texts = textsTo(phone);
    expect(texts.length).toBe(4);
    expect(texts.every((text) => text.length <= 4096 && text.endsWith('cut.'))).toBe(true);
    expect(texts.join(' ')).toBe(sentences.join(' '));
    for (const taken of takenFor(phone)) {
      expect((await customer.deliveries())[0]!.state).toBe('sent'); // until every part is delivered
      await account.tell(taken, 'delivered');
    }
    expect((await customer.deliveries())[0]!.state).toBe('delivered');
  });

  it('goes to the user id of a customer who hides the phone number', async () => {
    const customer = await account.customer('US.13491208655302741918');
    await customer.reply('Hello you');
    await customer.delivery(1, 'sent');
    expect(graph.requests.at(-1)?.body).toMatchObject({
      recipient: 'US.13491208655302741918',
      text: { body: 'Hello you' },
    });
    expect(graph.requests.at(-1)?.body).not.toHaveProperty('to');
  });

  it('comes after the one before, also while that one is tried again and again', async () => {
    const { phone, customer } = await begin();
    let refusals = 3;
    graph.answerBy(({ body }) => (body.text.body === 'one' && refusals-- > 0 ? outage : accept));
    for (const text of ['one', 'two', 'three'])
      expect((await customer.reply(text)).status).toBe(201);
    await customer.delivery(3, 'sent');
    const tried = requestsTo(phone).map(({ body }) => body.text.body);
    expect(tried).toEqual([...Array<string>(4).fill('one'), 'two', 'three']);
    expect(await customer.deliveries()).toEqual(
      ['one', 'two', 'three'].map((text) => ({ text, state: 'sent', error: null })),
    );
  });

  it('does not wait for another customer whose message hangs', async () => {
    const [slow, quick] = [newPhone(), newPhone()];
    const [first, second] = [await account.customer(slow), await account.customer(quick)];
    let free = () => {};
    graph.answerBy(({ body }) =>
      body.to === slow
        ? (res, take, request) => void (free = () => accept(res, take, request))
        : accept,
    );
    await first.reply('I hang');
    await waitFor('the request', () => requestsTo(slow).length === 1);
    await second.reply('I do not');
    await second.delivery(1, 'sent');
    expect((await first.deliveries())[0]?.state).toBe('pending');
    free();
    await first.delivery(1, 'sent');
  });

  it('waits as long as Meta asks it to', async () => {
    const { phone, customer } = await begin();
    graph.answerWith(tooMany('1'));
    await customer.reply('In a second');
    await customer.delivery(1, 'sent');
    const [first, second] = requestsTo(phone);
    // Not after its own 20 ms. The clock of a test reaches PostgreSQL a little late.
    expect(second!.at - first!.at).toBeGreaterThan(500);
  });

  it('fails after the last attempt and says why; the next message is still sent', async () => {
    const { phone, customer } = await begin();
    graph.answerWith(...Array<GraphReply>(5).fill(outage));
    await customer.reply('Never');
    await customer.reply('But this');
    expect(await customer.delivery(1, 'failed')).toEqual({
      state: 'failed',
      error: "WhatsApp is not available at the moment (Meta's error 131016). It was tried 5 times.",
    });
    await customer.delivery(2, 'sent');
    expect(requestsTo(phone)).toHaveLength(6);
    expect(textsTo(phone)).toEqual(['But this']);
  });

  it('fails at once and says why when Meta refuses it, and stores no token and no secret', async () => {
    const { phone, customer } = await begin();
    graph.answerWith(
      graphError(401, { code: 190, message: `Malformed access token ${graph.accessToken}` }),
    );
    await customer.reply('Once');
    const { error } = await customer.delivery(1, 'failed');
    expect(error).toContain('Meta rejected the access token');
    expect(requestsTo(phone)).toHaveLength(1);
    const stored = await service.stored();
    expect(stored).toContain(graph.phoneNumberId);
    for (const secret of [graph.accessToken, APP_SECRET]) expect(stored).not.toContain(secret);
  });

  it('counts as sent when Meta answers 200 and the rest is lost; the receipt brings its id', async () => {
    const { phone, customer } = await begin();
    graph.answerWith(takeAndCut);
    await customer.reply('Cut off');
    await customer.delivery(1, 'sent');
    await account.tell(takenFor(phone)[0]!, 'delivered');
    await customer.delivery(1, 'delivered');
    expect(requestsTo(phone)).toHaveLength(1);
  });

  it('is not sent again when the receipt comes before the answer does, and the next one follows', async () => {
    const { phone, customer } = await begin();
    let breakOff = () => {};
    graph.answerWith((res, take) => {
      take();
      breakOff = () => res.socket?.destroy();
    });
    await customer.reply('one');
    await waitFor('the request', () => takenFor(phone).length === 1);
    await account.tell(takenFor(phone)[0]!, 'delivered');
    await customer.delivery(1, 'delivered');
    await customer.reply('two');
    breakOff();
    await customer.delivery(2, 'sent');
    expect((await customer.deliveries()).map(({ state }) => state)).toEqual(['delivered', 'sent']);
    expect(textsTo(phone)).toEqual(['one', 'two']);
  });

  it('waits for a receipt when the connection broke off after the request: with one, it is not sent again', async () => {
    const { phone, customer } = await begin();
    graph.answerWith(takeAndReset);
    await customer.reply('Maybe there');
    await waitFor('the request', () => takenFor(phone).length === 1);
    await customer.reply('After it');
    await new Promise((resolve) => setTimeout(resolve, 500)); // several times the wait of a retry
    expect(requestsTo(phone)).toHaveLength(1);
    aheadMs = -60_000; // the time for the receipt does not end in this test
    await account.tell(takenFor(phone)[0]!, 'sent');
    await customer.delivery(2, 'sent');
    expect(textsTo(phone)).toEqual(['Maybe there', 'After it']);
  });

  it('fails and says why when Meta reports a failure afterwards', async () => {
    const { phone, customer } = await begin();
    await customer.reply('Too late');
    await customer.delivery(1, 'sent');
    await account.tell(takenFor(phone)[0]!, 'failed', [
      { code: 131026, title: 'Message undeliverable' },
    ]);
    expect((await customer.deliveries())[0]).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('WhatsApp cannot deliver to this customer'),
    });
  });

  it('is refused with 409 outside of the 24 hours, says since when, and stores nothing; it goes out when the customer writes again', async () => {
    const phone = newPhone();
    const wroteAt = new Date(Math.floor(Date.now() / 1000) * 1000);
    const customer = await account.customer(phone, wroteAt);
    aheadMs = 24 * HOUR_MS - 60_000;
    expect((await customer.reply('Just in time')).status).toBe(201);
    await customer.delivery(1, 'sent');
    const conversation = async () =>
      (await service.api.get(`/api/conversations/${customer.conversationId}`)).body;
    const before = await conversation();
    aheadMs = 24 * HOUR_MS + 1000;
    const { status, body } = await customer.reply('Too late');
    const spoken = (date: Date) => date.toISOString().replace('Z', '+00:00');
    expect([status, body.error.code]).toEqual([409, 'outside_messaging_window']);
    expect(body.error.message).toContain(
      `they last wrote at ${spoken(wroteAt)}, so it was open until ${spoken(new Date(wroteAt.getTime() + 24 * HOUR_MS))}`,
    );
    expect(await conversation()).toEqual(before);
    await account.write(phone, 'I am back', clock.now());
    expect((await customer.reply('Welcome back')).status).toBe(201);
    await customer.delivery(2, 'sent');
    expect(textsTo(phone)).toEqual(['Just in time', 'Welcome back']);
  });

  it('is refused with 409 when the account is not connected any more, and goes out again once it is', async () => {
    const { customer } = await begin();
    await service.api.delete(`/api/channels/${account.channelId}`);
    const { status, body } = await customer.reply('Nowhere to go');
    expect([status, body.error.code]).toEqual([409, 'channel_removed']);
    expect(await customer.deliveries()).toEqual([]);
    account = await connectWhatsApp(service, graph);
    expect((await customer.reply('Back again')).status).toBe(201);
    await customer.delivery(1, 'sent');
  });

  it('fails and says why when the account is disconnected before it is sent', async () => {
    const { phone, customer } = await begin();
    graph.answerWith(tooMany('1'));
    await customer.reply('one');
    await customer.reply('two');
    await waitFor('the first attempt', () => requestsTo(phone).length === 1);
    await service.api.delete(`/api/channels/${account.channelId}`);
    await customer.delivery(2, 'failed');
    expect((await customer.deliveries()).map(({ error }) => error)).toEqual(
      Array<string>(2).fill('The channel was disconnected before this message was sent.'),
    );
    expect(textsTo(phone)).toEqual([]);
  });

  it('arrives in order for many customers at once, and at most 20 are under way for one account', async () => {
    const customers = Array.from({ length: 24 }, newPhone);
    const talks = await Promise.all(customers.map((phone) => account.customer(phone)));
    const held: (() => void)[] = [];
    graph.answerBy(() => (res, take, request) => void held.push(() => accept(res, take, request)));
    for (const text of ['1', '2'])
      for (const talk of talks) expect((await talk.reply(text)).status).toBe(201);
    await waitFor('20 requests', () => held.length >= 20);
    await new Promise((resolve) => setTimeout(resolve, 200)); // time for one request too many
    expect(held).toHaveLength(20);
    graph.answerBy(() => accept);
    for (const answer of held) answer();
    for (const talk of talks) await talk.delivery(2, 'sent');
    for (const phone of customers) expect(textsTo(phone)).toEqual(['1', '2']);
  });

  it('survives an orderly stop while it waits for its next attempt', async () => {
    const { phone, customer } = await begin();
    graph.answerWith(tooMany('1'));
    await customer.reply('Patience');
    await waitFor('the first attempt', () => requestsTo(phone).length === 1);
    await service.restart();
    browser = await signedInBrowser(service.url);
    await customer.delivery(1, 'sent');
    expect(textsTo(phone)).toEqual(['Patience']);
  });

  it('of the agent is sent like any other; if the window has closed it is not sent, and fails with the reason', async () => {
    await service.api.patch('/api/agent', { enabled: true });
    const [phone, latePhone] = [newPhone(), newPhone()];
    const customer = await account.customer(phone);
    await customer.delivery(1, 'sent');
    expect(textsTo(phone)).toHaveLength(1);
    aheadMs = 25 * HOUR_MS;
    const late = await account.customer(latePhone, new Date());
    expect(await late.delivery(1, 'failed')).toMatchObject({
      error: expect.stringContaining('so it was open until'),
    });
    expect(requestsTo(latePhone)).toEqual([]);
    await service.api.patch('/api/agent', { enabled: false });
  });

  describe('that failed, sent again by a member', () => {
    /** @returns the message's id, once it has failed */
    const failed = async (customer: Customer, text: string): Promise<string> => {
      const { body } = await customer.reply(text);
      await customer.delivery(1, 'failed');
      return body.message.id;
    };

    it('arrives once, however often the member asks for it, after the message that already waits', async () => {
      const { phone, customer, path } = await begin();
      graph.answerWith(refusal);
      const id = await failed(customer, 'Your parcel has left.');
      expect((await browser.get(path)).html).toContain(`retry-${id}`);
      // The waiting message is held back until the retry was asked for three times.
      const held = Promise.withResolvers<() => void>();
      graph.answerWith((res, take, request) => held.resolve(() => accept(res, take, request)));
      await customer.reply('It comes on Friday.');
      const takeIt = await held.promise;
      const pages = await Promise.all(
        [1, 2, 3].map(() => browser.post(`${path}/messages/${id}/retry`)),
      );
      expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
      takeIt();
      await customer.delivery(1, 'sent');
      expect(textsTo(phone)).toEqual(['It comes on Friday.', 'Your parcel has left.']);
      expect((await browser.get(path)).html).not.toContain(`retry-${id}`);
      // It is the same message: no new one was stored.
      expect((await customer.deliveries()).map(({ text, state }) => [text, state])).toEqual([
        ['Your parcel has left.', 'sent'],
        ['It comes on Friday.', 'sent'],
      ]);
    });

    it('arrives from the first part that the customer does not have', async () => {
      const { phone, customer, path } = await begin();
      graph.answerWith(accept, refusal);
      const parts = ['a', 'b', 'c'].map((letter) => letter.repeat(4096));
      const id = await failed(customer, parts.join(' '));
      expect(textsTo(phone)).toEqual(parts.slice(0, 1));
      await browser.get(path);
      await browser.post(`${path}/messages/${id}/retry`);
      await customer.delivery(1, 'sent');
      expect(textsTo(phone)).toEqual(parts);
    });

    /** The first part was sent and failed afterwards, while the second waits for its next attempt. */
    const failedWhileWaiting = async (secondAnswer: GraphReply) => {
      const { phone, customer, path } = await begin();
      graph.answerWith(accept, secondAnswer);
      const parts = ['a', 'b', 'c'].map((letter) => letter.repeat(4096));
      const { body } = await customer.reply(parts.join(' '));
      const { id } = body.message;
      const waitsForRetry = `"message":"${id}","part":2`;
      await waitFor('the second part to wait', () => logged.includes(waitsForRetry));
      await account.tell(takenFor(phone)[0]!, 'failed');
      await customer.delivery(1, 'failed');
      await browser.get(path);
      const { html } = await browser.post(`${path}/messages/${id}/retry`);
      return { phone, customer, parts, html };
    };

    it('arrives in its order, and not before the time that the channel asked for', async () => {
      const { phone, customer, parts, html } = await failedWhileWaiting(tooMany('10'));
      expect(html).toContain('Waiting to be sent. The last attempt failed:');
      await customer.delivery(1, 'sent');
      expect(textsTo(phone)).toEqual([parts[0], ...parts]);
      const [, refused, next] = requestsTo(phone);
      expect(next!.at - refused!.at).toBeGreaterThanOrEqual(9950);
    });

    it('does not repeat a part that had arrived before it was known to', async () => {
      const { phone, customer, parts } = await failedWhileWaiting(takeAndReset);
      await account.tell(takenFor(phone)[1]!, 'delivered');
      await customer.delivery(1, 'sent');
      expect(textsTo(phone)).toEqual([parts[0], parts[1], parts[0], parts[2]]);
    });

    it('is not offered, and refused, once the 24 hours are over or the conversation is closed', async () => {
      const { phone, customer, path } = await begin();
      graph.answerWith(refusal);
      const id = await failed(customer, 'Too late?');
      await browser.get(path);
      aheadMs = 25 * HOUR_MS;
      expect((await browser.get(path)).html).not.toContain(`retry-${id}`);
      const late = await browser.post(`${path}/messages/${id}/retry`);
      expect(late.text).toContain('Not sent: the messaging window is closed.');
      aheadMs = 0;
      await service.api.post(`/api${path}/close`, { summary: 'Done.', verdict: 'unknown' });
      expect((await browser.post(`${path}/messages/${id}/retry`)).text).toContain('already closed');
      expect(textsTo(phone)).toEqual([]);
      const other = await begin();
      expect((await browser.post(`${other.path}/messages/${id}/retry`)).status).toBe(404);
    });
  });
});
