// What a customer writes stays in its order when deliveries of very different sizes come at once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  connectNumber,
  deliver,
  metaBody,
  metaValue,
  textMessage,
  type ConnectedNumber,
} from '../../helpers/meta.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const OTHER_CUSTOMERS = 400;
const SMALL_DELIVERIES = 5;
const MAX_ROUNDS = 4;

describe('deliveries that are under way at once', () => {
  let service: TestService;
  let number: ConnectedNumber;
  beforeAll(async () => {
    service = await startTestService();
    number = await connectNumber(service.api);
  });
  afterAll(() => service?.stop());

  const conversationOf = (phone: string) =>
    service.api.post('/api/contacts/lookup', { phone: `+${phone}` });
  const send = (...messages: unknown[]) =>
    deliver(service.url, number, metaBody(metaValue({ messages })));

  it('keep the order of each contact: a small one does not overtake a large one that came before', async () => {
    let haveOverlapped = false;
    for (let round = 0; round < MAX_ROUNDS && !haveOverlapped; round++) {
      const phoneOf = (n: number) => String(5491150000000 + round * 1000 + n);
      const customer = phoneOf(999);
      const texts = Array.from({ length: SMALL_DELIVERIES + 1 }, (_, n) => `text ${n}`);
      let isLargeAnswered = false;
      const large = send(
        ...Array.from({ length: OTHER_CUSTOMERS }, (_, n) =>
          textMessage(phoneOf(n), 'of somebody else'),
        ),
        textMessage(customer, texts[0]!),
      ).then((answer) => {
        isLargeAnswered = true;
        return answer;
      });
      await waitFor(
        'the large one to be under way',
        async () => (await conversationOf(phoneOf(0))).status === 200,
        { everyMs: 1 },
      );
      haveOverlapped = !isLargeAnswered;
      const statuses = [];
      for (const text of texts.slice(1))
        statuses.push((await send(textMessage(customer, text))).status);
      expect([...statuses, (await large).status]).toEqual(texts.map(() => 200));
      const { body } = await conversationOf(customer);
      const { messages } = (await service.api.get(`/api/conversations/${body.id}`)).body;
      expect(messages.map(({ text }: { text: string }) => text)).toEqual(texts);
    }
    // Small ones did come while the large one was under way.
    expect(haveOverlapped).toBe(true);
  });
});
