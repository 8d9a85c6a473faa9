import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  connectNumber,
  deliver,
  metaBody,
  metaValue,
  type ConnectedNumber,
} from '../../../helpers/meta.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';

const SENDERS = 12;
const CONTACTS_EACH = 12;
const ROUNDS = 8;

/**
 * A row of deliveries to one address, each repeated until it is answered with 200, as Meta does;
 * some are repeated though they were.
 */
async function deliverAll(
  service: ServiceProcess,
  number: ConnectedNumber,
  bodies: readonly unknown[],
  answered: () => void,
): Promise<void> {
  for (const [n, body] of bodies.entries()) {
    const repeats = n % 3 === 0 ? 2 : 1;
    for (let done = 0; done < repeats; ) {
      const answer = await deliver(service.url, number, body).catch(() => null);
      if (answer?.status === 200) done += 1;
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
    answered();
  }
}

describe('WhatsApp deliveries while the service is killed and started again', () => {
  let service: ServiceProcess;
  let number: ConnectedNumber;
  beforeAll(async () => {
    service = await startServiceProcess();
    number = await connectNumber(service.api);
  });
  afterAll(() => service?.close());

  it('are stored once each, in order per contact, and none that was answered with 200 is lost', async () => {
    const phoneOf = (sender: number, contact: number) =>
      String(5491155000000 + sender * 100 + contact);
    const message = (phone: string, round: number, part: number) => ({
      from: phone,
      id: `wamid.${phone} ${round} ${part}`,
      timestamp: '1739321024',
      type: 'text',
      text: { body: `${round} ${part}` },
    });
    // One sender delivers one message at a time, the next all contacts' at once.
    const bodiesOf = (sender: number) => {
      const contacts = Array.from({ length: CONTACTS_EACH }, (_, contact) =>
        phoneOf(sender, contact),
      );
      return Array.from({ length: ROUNDS }, (_, round) => {
        const messages = contacts.flatMap((phone) => [
          message(phone, round, 0),
          message(phone, round, 1),
        ]);
        return sender % 2 === 0
          ? [metaBody(metaValue({ messages }))]
          : messages.map((each) => metaBody(metaValue({ messages: [each] })));
      }).flat();
    };
    const rows = Array.from({ length: SENDERS }, (_, sender) => bodiesOf(sender));
    const all = rows.flat().length;
    let answered = 0;
    const kills: Promise<void>[] = [];
    const delivering = rows.map((bodies) =>
      deliverAll(service, number, bodies, () => {
        answered += 1;
        if (answered === Math.floor(all / 3) || answered === Math.floor((2 * all) / 3))
          kills.push(service.crashAndRestart());
      }),
    );
    await Promise.all(delivering);
    await Promise.all(kills);
    expect(kills).toHaveLength(2);

    const expected = Array.from({ length: ROUNDS }, (_, round) => [
      `${round} 0`,
      `${round} 1`,
    ]).flat();
    for (let sender = 0; sender < SENDERS; sender++) {
      for (let contact = 0; contact < CONTACTS_EACH; contact++) {
        const { body } = await service.api.post('/api/contacts/lookup', {
          phone: `+${phoneOf(sender, contact)}`,
        });
        const { messages } = (await service.api.get(`/api/conversations/${body.id}`)).body;
        expect(messages.map(({ text }: { text: string }) => text)).toEqual(expected);
      }
    }
  }, 120_000);
});
