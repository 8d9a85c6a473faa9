// The built service as a real process that is killed while WhatsApp delivers, and while texts are on
// their way to WhatsApp.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  hang,
  startGraphServer,
  takeAndHang,
  tooMany,
  type GraphServer,
} from '../../../helpers/graphServer.ts';
import {
  connectNumber,
  deliver,
  metaBody,
  metaValue,
  textMessage,
  type ConnectedNumber,
} from '../../../helpers/meta.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { APP_SECRET, connectWhatsApp, type WhatsAppAccount } from './whatsappTalk.ts';

/** How long the sender waits for a receipt. */
const GRACE_MS = 15_000;
const SENDERS = 8;
const CONTACTS_EACH = 6;
const ROUNDS = 4;

/**
 * Delivers one body after the other, each until it is answered with 200, as Meta does. Every third
 * one is delivered again after that.
 */
async function deliverAll(
  url: string,
  number: ConnectedNumber,
  bodies: readonly unknown[],
  answered: () => void,
): Promise<void> {
  for (const [n, body] of bodies.entries()) {
    const repeats = n % 3 === 0 ? 2 : 1;
    for (let done = 0; done < repeats; ) {
      const answer = await deliver(url, number, body).catch(() => null);
      if (answer?.status === 200) done += 1;
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
    answered();
  }
}

const TEXTED = {
  known: '14155552101',
  unknown: '14155552102',
  lost: '14155552103',
  waiting: '14155552104',
} as const;
const RETRY_AFTER_S = 10;

describe('a service that is killed and started again', () => {
  let graph: GraphServer;
  let service: ServiceProcess;
  let account: WhatsAppAccount;
  let number: ConnectedNumber;
  let killed: Awaited<ReturnType<typeof textCustomers>>;
  let killedAt: number;

  /** It is killed twice while messages are delivered, the second time while texts are sent too. */
  beforeAll(async () => {
    graph = await startGraphServer();
    service = await startServiceProcess({
      env: {
        GRAPH_API_URL: graph.url,
        CHANNEL_RETRY_DELAYS_MS: '100,100,100,100',
        LOG_LEVEL: 'debug',
      },
    });
    account = await connectWhatsApp(service, graph);
    number = await connectNumber(service.api, { account: '106540352242999' });
    const customer = await account.customer('14155552199');
    await customer.reply('Between you and me');
    await customer.delivery(1, 'sent');

    const rows = Array.from({ length: SENDERS }, (_, sender) => bodiesOf(sender));
    const first = rows.map((bodies) => bodies.slice(0, bodies.length / 2));
    // Killed while some senders are far ahead of others, and again while all are at their first.
    await deliverRows(first, Math.floor(first.flat().length / 2), () => service.crashAndRestart());
    killed = await textCustomers();
    const rest = rows.map((bodies) => bodies.slice(bodies.length / 2));
    await deliverRows(rest, SENDERS, async () => {
      killedAt = Date.now();
      await service.crashAndStartHere();
      await account.tell(graph.taken.find(({ body }) => body.to === TEXTED.known)!, 'delivered');
    });
  }, 180_000);
  afterEach(() => expect(graph.faults).toEqual([]));
  afterAll(async () => {
    await service?.close();
    await graph?.close();
  });

  const phoneOf = (sender: number, contact: number) =>
    String(5491155000000 + sender * 100 + contact);
  const message = (phone: string, round: number, part: number) =>
    textMessage(phone, `${round} ${part}`, `wamid.${phone} ${round} ${part}`);
  /** One sender delivers one message at a time, the next all contacts' at once. */
  const bodiesOf = (sender: number): unknown[] => {
    const contacts = Array.from({ length: CONTACTS_EACH }, (_, contact) =>
      phoneOf(sender, contact),
    );
    return Array.from({ length: ROUNDS }, (_, round) => {
      const messages = contacts.flatMap((phone) => [
        message(phone, round, 0),
        message(phone, round, 1),
      ]);
      return sender % 2 === 0
        ? [metaBody(metaValue({ messages }, number.account))]
        : messages.map((each) => metaBody(metaValue({ messages: [each] }, number.account)));
    }).flat();
  };

  /** Delivers all rows at once. @param kill called once `killAt` deliveries were answered */
  async function deliverRows(
    rows: readonly unknown[][],
    killAt: number,
    kill: () => Promise<void>,
  ): Promise<void> {
    let answered = 0;
    let dying: Promise<void> | null = null;
    await Promise.all(
      rows.map((bodies) =>
        deliverAll(service.url, number, bodies, () => {
          answered += 1;
          if (answered === killAt) dying = kill();
        }),
      ),
    );
    expect(dying).not.toBeNull();
    await dying;
  }

  /** Texts whose sending is in each state in which the process may die. */
  async function textCustomers() {
    const customers = {
      known: await account.customer(TEXTED.known),
      unknown: await account.customer(TEXTED.unknown),
      lost: await account.customer(TEXTED.lost),
      waiting: await account.customer(TEXTED.waiting),
    };
    // One after the other, so that each gets its own answer.
    for (const [name, reply] of [
      ['known', takeAndHang],
      ['unknown', takeAndHang],
      ['lost', hang],
      ['waiting', tooMany(String(RETRY_AFTER_S))],
    ] as const) {
      const requests = graph.requests.length;
      graph.answerWith(reply);
      expect((await customers[name].reply('one')).status).toBe(201);
      await waitFor('the request', () => graph.requests.length === requests + 1);
      expect((await customers[name].reply('two')).status).toBe(201);
    }
    await waitFor('the refusal to be on record', async () =>
      (await readFile(service.logFile, 'utf8')).includes('130429'),
    );
    return customers;
  }

  it('stores each message that is delivered once, in order per contact, and loses none that it answered with 200', async () => {
    const expected = Array.from({ length: ROUNDS }, (_, n) => [`${n} 0`, `${n} 1`]).flat();
    for (let sender = 0; sender < SENDERS; sender++) {
      for (let contact = 0; contact < CONTACTS_EACH; contact++) {
        const { body } = await service.api.post('/api/contacts/lookup', {
          phone: `+${phoneOf(sender, contact)}`,
        });
        const { messages } = (await service.api.get(`/api/conversations/${body.id}`)).body;
        expect(messages.map(({ text }: { text: string }) => text)).toEqual(expected);
      }
    }
  });

  const requestsTo = (phone: string) => graph.requests.filter(({ body }) => body.to === phone);
  const textsTo = (phone: string) => requestsTo(phone).map(({ body }) => body.text.body);

  it('does not repeat a taken text whose receipt has come, and repeats all others after the grace, each in order', async () => {
    await killed.known.delivery(2, 'sent');
    expect((await killed.known.deliveries()).map(({ state }) => state)).toEqual([
      'delivered',
      'sent',
    ]);
    await killed.waiting.delivery(2, 'sent');
    expect(textsTo(TEXTED.waiting)).toEqual(['one', 'one', 'two']);
    const [refused, taken] = requestsTo(TEXTED.waiting);
    expect(taken!.at - refused!.at).toBeGreaterThanOrEqual(RETRY_AFTER_S * 1000 - 50);

    for (const customer of [killed.unknown, killed.lost]) await customer.delivery(2, 'sent');
    for (const phone of [TEXTED.unknown, TEXTED.lost]) {
      expect(textsTo(phone)).toEqual(['one', 'one', 'two']);
      expect(requestsTo(phone)[1]!.at - killedAt).toBeGreaterThanOrEqual(GRACE_MS);
    }
    expect(textsTo(TEXTED.known)).toEqual(['one', 'two']);
  }, 90_000);

  it('writes neither tokens nor phone numbers nor texts into the log', async () => {
    const log = await readFile(service.logFile, 'utf8');
    expect(log).toContain('"outbound_message":"out_');
    const texts = ['Between you', 'Sheena'];
    for (const secret of [graph.accessToken, APP_SECRET, '1415555', '54911550', ...texts])
      expect(log).not.toContain(secret);
  });
});
