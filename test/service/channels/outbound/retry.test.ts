// A member sends a message again that WhatsApp did not take.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import {
  accept,
  graphError,
  startGraphServer,
  type GraphServer,
} from '../../../helpers/graphServer.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { connectWhatsApp, type Customer, type WhatsAppAccount } from '../whatsapp/whatsappTalk.ts';

const REFUSED = graphError(400, { code: 131026, message: '(#131026) Message undeliverable' });
const HOUR_MS = 3_600_000;

describe('Retry in a thread', () => {
  let graph: GraphServer;
  let service: TestService;
  let account: WhatsAppAccount;
  let browser: Browserless;
  let aheadMs = 0;
  let phones = 0;
  beforeAll(async () => {
    graph = await startGraphServer();
    service = await startTestService({
      clock: { now: () => new Date(Date.now() + aheadMs) },
      env: { ...MEMBER_ENV, GRAPH_API_URL: graph.url, CHANNEL_RETRY_DELAYS_MS: '20,30,40,50' },
    });
    await service.api.patch('/api/agent', { enabled: false });
    account = await connectWhatsApp(service, graph);
    browser = await signedInBrowser(service.url);
  });
  beforeEach(() => graph.answerBy(() => accept));
  afterAll(async () => {
    await service?.stop();
    await graph?.close();
  });

  const begin = async () => {
    const phone = `1415556${String(2000 + phones++)}`;
    const customer = await account.customer(phone);
    const path = `/conversations/${customer.conversationId}`;
    const texts = () =>
      graph.taken.filter(({ body }) => body.to === phone).map(({ body }) => body.text.body);
    return { customer, path, texts };
  };

  /** @returns the message's id, once it has failed */
  const failed = async (customer: Customer, text: string, nth = 1): Promise<string> => {
    const { body } = await customer.reply(text);
    await customer.delivery(nth, 'failed');
    return body.message.id;
  };

  it('sends the message once, however often it is asked for, behind what waits', async () => {
    const { customer, path, texts } = await begin();
    graph.answerBy(() => REFUSED);
    const id = await failed(customer, 'Your parcel has left.');
    expect((await browser.get(path)).html).toContain(`retry-${id}`);
    graph.answerBy(() => accept);
    await customer.reply('It comes on Friday.');
    const pages = await Promise.all(
      [1, 2, 3].map(() => browser.post(`${path}/messages/${id}/retry`)),
    );
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
    await customer.delivery(1, 'sent');
    await customer.delivery(2, 'sent');
    expect(texts()).toEqual(['It comes on Friday.', 'Your parcel has left.']);
    expect((await browser.get(path)).html).not.toContain(`retry-${id}`);
    // The message is the same: nobody hears of it again.
    expect((await customer.deliveries()).map(({ text }) => text)).toEqual([
      'Your parcel has left.',
      'It comes on Friday.',
    ]);
  });

  it('sends only the parts that the customer does not have, in their order', async () => {
    const { customer, path, texts } = await begin();
    let sent = 0;
    graph.answerBy(() => (++sent === 2 ? REFUSED : accept));
    const parts = ['a', 'b', 'c'].map((letter) => letter.repeat(4096));
    const id = await failed(customer, parts.join(' '));
    expect(texts().map((text) => text[0])).toEqual(['a']);
    graph.answerBy(() => accept);
    await browser.get(path);
    await browser.post(`${path}/messages/${id}/retry`);
    await customer.delivery(1, 'sent');
    expect(texts().map((text) => text[0])).toEqual(['a', 'b', 'c']);
  });

  it('is not offered, and refused, once the 24 hours are over or the conversation is closed', async () => {
    const { customer, path, texts } = await begin();
    graph.answerBy(() => REFUSED);
    const id = await failed(customer, 'Too late?');
    graph.answerBy(() => accept);
    await browser.get(path);
    aheadMs = 25 * HOUR_MS;
    expect((await browser.get(path)).html).not.toContain(`retry-${id}`);
    const late = await browser.post(`${path}/messages/${id}/retry`);
    expect(late.text).toContain('Not sent: the messaging window is closed.');
    aheadMs = 0;
    await service.api.post(`/api${path}/close`, { summary: 'Done.', verdict: 'unknown' });
    expect((await browser.post(`${path}/messages/${id}/retry`)).text).toContain('already closed');
    expect(texts()).toEqual([]);
    const other = await begin();
    expect((await browser.post(`${other.path}/messages/${id}/retry`)).status).toBe(404);
  });
});
