import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { MAX_LINES_PER_MINUTE } from '../../../../service/src/platform/http/server/logRequests.ts';
import type { ApiClient } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../../helpers/browserless.ts';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import {
  connectNumber,
  deliver,
  metaBody,
  metaEntry,
  metaMessage,
  metaText,
  metaValue,
  newWamid,
  sign,
  textMessage,
  type ConnectedNumber,
} from '../../../helpers/meta.ts';
import { MESSAGE_EXAMPLES } from '../../../helpers/metaExamples.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const SECOND_ACCOUNT = '106540352242923';

let service: TestService;
let receiver: EventReceiver;
let number: ConnectedNumber;
let second: ConnectedNumber;
let other: ApiClient;
/** The same account, connected by another workspace. */
let theirs: ConnectedNumber;
/** What the service has logged, line by line. */
const logged: string[] = [];

beforeAll(async () => {
  receiver = await startEventReceiver();
  service = await startTestService({
    ca: receiver.ca,
    env: MEMBER_ENV,
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
  });
  other = await service.addWorkspace('Other');
  number = await connectNumber(service.api);
  second = await connectNumber(service.api, { account: SECOND_ACCOUNT });
  theirs = await connectNumber(other);
  for (const event of ['conversation.opened', 'message.received'])
    await receiver.subscribe(service, event);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

let phones = 5491155550000;
const newPhone = () => String(++phones);

const send = (body: unknown, to = number, headers?: Record<string, string | undefined>) =>
  deliver(service.url, to, body, headers);

const statusOf = async (...args: Parameters<typeof send>) => (await send(...args)).status;

/** The contact's conversation with all its messages, by the API; null when there is none. */
async function conversationOf(phone: string, api = service.api) {
  const found = await api.post('/api/contacts/lookup', { phone: `+${phone}` });
  if (found.status === 404) return null;
  return (await api.get(`/api/conversations/${found.body.id}?messages=200`)).body;
}

const textsOf = (conversation: { messages: { text: string }[] }) =>
  conversation.messages.map(({ text }) => text);

describe('the address of a number', () => {
  const ask = (query: Record<string, string>, path = number.path) =>
    fetch(`${service.url}${path}?${new URLSearchParams(query)}`);
  const right = () => ({
    'hub.mode': 'subscribe',
    'hub.verify_token': number.verifyToken,
    'hub.challenge': '1158201444',
  });

  it('gives the challenge back to a caller that knows the verify token', async () => {
    const answer = await ask(right());
    expect([answer.status, await answer.text(), answer.headers.get('content-type')]).toEqual([
      200,
      '1158201444',
      'text/plain; charset=utf-8',
    ]);
  });

  it.each([
    ['another token', { 'hub.verify_token': 'guess' }],
    ['an empty token', { 'hub.verify_token': '' }],
    ['another mode', { 'hub.mode': 'unsubscribe' }],
    ['no challenge', { 'hub.challenge': '' }],
    ['a challenge that is a page', { 'hub.challenge': '<script>alert(1)</script>' }],
    ['a challenge of another length', { 'hub.challenge': '1'.repeat(129) }],
  ])('refuses %s', async (_, change) => {
    const answer = await ask({ ...right(), ...change });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
  });

  it('refuses a token that comes twice, and one of another number', async () => {
    const twice = `${new URLSearchParams(right())}&hub.verify_token=x`;
    expect((await fetch(`${service.url}${number.path}?${twice}`)).status).toBe(401);
    expect((await ask(right(), second.path)).status).toBe(401);
  });

  const SIGNATURE = 'x-hub-signature-256';

  it.each<[string, (body: string) => Record<string, string | undefined>]>([
    ['no signature', () => ({ [SIGNATURE]: undefined })],
    ['the signature of another body', () => ({ [SIGNATURE]: sign('{}', number.appSecret) })],
    ["another number's secret", (body) => ({ [SIGNATURE]: sign(body, second.appSecret) })],
    ['an empty secret', (body) => ({ [SIGNATURE]: sign(body, '') })],
    ['half a signature', (body) => ({ [SIGNATURE]: sign(body, number.appSecret).slice(0, 40) })],
    [
      'the old signature alone',
      (body) => ({ [SIGNATURE]: undefined, 'x-hub-signature': sign(body, number.appSecret) }),
    ],
  ])('refuses a delivery with %s, and stores nothing', async (_, headers) => {
    const phone = newPhone();
    const body = JSON.stringify(metaText('forged', { phone }));
    const answer = await send(body, number, headers(body));
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([401, 'unauthorized']);
    expect(await conversationOf(phone)).toBeNull();
  });

  it('is verified over the very bytes: spaces, escapes and any content type', async () => {
    const phone = newPhone();
    const body = `\n ${JSON.stringify(metaText('Grüße', { phone })).replace('ü', '\\u00fc')}  `;
    expect(await statusOf(body, number, { 'content-type': 'text/plain' })).toBe(200);
    const untyped = metaText('no type', { phone });
    expect(await statusOf(untyped, number, { 'content-type': '' })).toBe(200);
    expect(textsOf(await conversationOf(phone))).toEqual(['Grüße', 'no type']);
  });

  it('does not exist for unknown ids and types, refuses another method, and leaves the accounts behind a key', async () => {
    for (const path of [
      number.path.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      number.path.replace('whatsapp_cloud', 'web_chat'),
      number.path.replace(/chan_.*/, '__proto__'),
    ])
      expect([path, await statusOf(metaText('x'), { ...number, path })]).toEqual([path, 404]);
    const put = await fetch(service.url + number.path, { method: 'PUT', body: '{}' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect((await fetch(`${service.url}/api/channels`)).status).toBe(401);
    const account = `${service.url}/api/channels/${number.id}`;
    expect((await fetch(account, { method: 'DELETE' })).status).toBe(401);
  });

  it('answers 200 to what can never be read, so that it is not repeated for a week', async () => {
    for (const body of ['{"object":', '', 'null', '[]', '{"entry":[{"changes":7}]}'])
      expect(await send(body)).toMatchObject({ status: 200, text: 'ok' });
  });

  it('takes 3 MB, and refuses more than 4 MiB and compressed bodies', async () => {
    const phone = newPhone();
    const large = JSON.stringify(metaText('large', { phone })).replace(
      '"object"',
      `"padding":"${'x'.repeat(3_000_000)}","object"`,
    );
    expect(await statusOf(large)).toBe(200);
    expect(textsOf(await conversationOf(phone))).toEqual(['large']);
    const tooLarge = await send(' '.repeat(5 * 1024 * 1024));
    expect(tooLarge.status).toBe(413);
    expect(JSON.parse(tooLarge.text).error).toMatchObject({
      code: 'body_too_large',
      message: expect.stringContaining('4 MiB'),
    });
    const packed = gzipSync(JSON.stringify(metaText('packed')));
    const answer = await fetch(service.url + number.path, {
      method: 'POST',
      headers: {
        'content-encoding': 'gzip',
        'x-hub-signature-256': sign(packed, number.appSecret),
      },
      body: packed,
    });
    expect(answer.status).toBe(415);
  });

  it('shows that the channel has delivered', async () => {
    expect(await statusOf(metaText('hi'))).toBe(200);
    const { body } = await service.api.get(`/api/channels/${number.id}`);
    expect(Date.now() - Date.parse(body.last_inbound_at)).toBeLessThan(60_000);
  });
});

describe('the log', () => {
  it('says what was refused and what was ignored, by channel, without numbers, texts, tokens and secrets', async () => {
    const phone = newPhone();
    const from = logged.length;
    await send(metaText('a secret wish', { phone }), number, {
      'x-hub-signature-256': 'sha256=no',
    });
    await send(metaText('a secret wish', { phone, account: '111111111111111' }));
    await send('{"phone":');
    const guess = 'hub.mode=subscribe&hub.verify_token=guessed&hub.challenge=1';
    await fetch(`${service.url}${number.path}?${guess}`);
    await fetch(`${service.url}/api/channels/whatsapp_cloud/webhook/${phone}`);
    const lines = await waitFor(
      'the last line',
      () => logged.slice(from).some((line) => line.includes('webhook/:id')) && logged.slice(from),
    );
    const text = lines.join('');
    for (const words of [
      'a webhook of a channel was refused',
      'not of the form sha256',
      'not connected here',
      'is not JSON',
      `/api/channels/:type/webhook/${number.id}`,
    ])
      expect(text).toContain(words);
    for (const secret of [phone, 'secret wish', 'guessed', number.appSecret, number.verifyToken])
      expect(text).not.toContain(secret);
  });

  it('is not filled by webhooks that anybody can send', async () => {
    const from = logged.length;
    const forged = () =>
      fetch(service.url + number.path, { method: 'POST', body: '{}' }).then(({ status }) => status);
    for (let n = 0; n < 650; n += 50) {
      const statuses = await Promise.all(Array.from({ length: 50 }, forged));
      expect(statuses).toEqual(Array(50).fill(401));
    }
    const refusals = logged.slice(from).filter((line) => line.includes('was refused'));
    expect(refusals.length).toBeGreaterThan(500);
    expect(refusals.length).toBeLessThanOrEqual(MAX_LINES_PER_MINUTE);
  });
});

describe('a message on WhatsApp', () => {
  it('opens a conversation, emits both events in order with the number masked, and is read by the API', async () => {
    const phone = newPhone();
    // As WhatsApp makes them: base64, with the number inside.
    const id = `wamid.${Buffer.from(`\x1c\x18\x0d${phone}\x15\x02\x00\x12\x18\x143AADF8441347E8571C10\x00`, 'latin1').toString('base64')}`;
    const body = metaText('Do you have it in blue?', { phone, name: 'Ana', id });
    expect(await send(body)).toMatchObject({ status: 200, text: 'ok' });
    const conversation = await conversationOf(phone);
    expect(conversation).toMatchObject({
      channel: 'whatsapp_cloud',
      status: 'ai_active',
      contact_name: 'Ana',
      message_count: 1,
      previous_conversation_id: null,
    });
    expect(conversation.messages).toMatchObject([
      {
        direction: 'inbound',
        sender: { type: 'customer', name: 'Ana' },
        text: 'Do you have it in blue?',
        channel_message_id: expect.stringMatching(/^wamid\.\w/),
      },
    ]);

    const mine = (event: string) =>
      receiver.payloads(event).find((payload) => payload.conversation.id === conversation.id);
    const opened = await waitFor('conversation.opened', () => mine('conversation.opened'));
    const received = await waitFor('message.received', () => mine('message.received'));
    expect(received).toMatchObject({
      conversation: {
        channel: 'whatsapp_cloud',
        contact_name: 'Ana',
        status: 'ai_active',
        message_count: 1,
      },
      message: { text: 'Do you have it in blue?' },
    });
    expect(opened.id < received.id).toBe(true);
    expect(received.conversation.contact_display).toMatch(/^\+54•+\d\d$/);
    for (const payload of [opened, received]) expect(JSON.stringify(payload)).not.toContain(phone);
    for (const { channel_message_id: shown } of [received.message, ...conversation.messages])
      expect(Buffer.from(shown.slice(6), 'base64').toString('latin1')).not.toContain(phone);
    expect(receiver.faults).toEqual([]);
  });

  it('is stored whatever its kind, in the order of the delivery', async () => {
    const phone = newPhone();
    const messages = MESSAGE_EXAMPLES.map(({ message }) => ({
      from: phone,
      id: newWamid(),
      timestamp: '1739321024',
      ...message,
    }));
    expect(await statusOf(metaBody(metaValue({ messages })))).toBe(200);
    expect(textsOf(await conversationOf(phone))).toEqual(MESSAGE_EXAMPLES.map(({ text }) => text));
  });

  it('is stored once, however often it comes: in one delivery, in several, and at once', async () => {
    const phone = newPhone();
    const [a, b] = [newWamid(), newWamid()];
    const message = (id: string) => textMessage(phone, id, id);
    const twice = metaBody(
      metaValue({ messages: [message(a), message(a)] }),
      metaValue({ messages: [message(a), message(b)] }),
    );
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(twice)));
    expect(statuses).toEqual(Array(10).fill(200));
    expect(await statusOf(twice)).toBe(200);
    const conversation = await conversationOf(phone);
    expect(conversation.messages).toMatchObject([
      { channel_message_id: a },
      { channel_message_id: b },
    ]);
    const eventNames = () =>
      receiver
        .payloads()
        .filter((payload) => payload.conversation.id === conversation.id)
        .map(({ event }) => event);
    // Deliveries run side by side: either message may arrive last.
    await waitFor('three events', () => eventNames().length >= 3);
    expect(eventNames().toSorted()).toEqual([
      'conversation.opened',
      'message.received',
      'message.received',
    ]);
  });

  it('stays beside those it came with, in their order, when many deliveries come at once', async () => {
    const customers = Array.from({ length: 5 }, newPhone);
    const batches = Array.from({ length: 12 }, (_, batch) =>
      metaBody(
        metaValue({
          messages: Array.from({ length: 4 }, (_, place) =>
            customers.map((phone) => textMessage(phone, `${batch} ${place}`)),
          ).flat(),
        }),
      ),
    );
    const statuses = await Promise.all(batches.map((batch) => statusOf(batch)));
    expect(statuses).toEqual(batches.map(() => 200));
    for (const phone of customers) {
      const texts = textsOf(await conversationOf(phone)).map((text) => text.split(' ').map(Number));
      const order = texts.filter(([, place]) => place === 0).map(([batch]) => batch);
      expect(new Set(order).size).toBe(12);
      expect(texts).toEqual(order.flatMap((batch) => [0, 1, 2, 3].map((place) => [batch, place])));
    }
  });

  it('opens a new conversation after the last one was closed', async () => {
    const phone = newPhone();
    await send(metaText('first', { phone }));
    const before = await conversationOf(phone);
    const closing = { summary: 'Done', verdict: 'goal_reached' };
    const { status } = await service.api.post(`/api/conversations/${before.id}/close`, closing);
    expect(status).toBe(200);
    await send(metaText('again', { phone }));
    const after = await conversationOf(phone);
    expect(after.id).not.toBe(before.id);
    expect(after).toMatchObject({
      status: 'ai_active',
      previous_conversation_id: before.id,
      message_count: 1,
    });
  });

  it('belongs to the number that it names, whichever address it came to; each number has its own contacts', async () => {
    const phone = newPhone();
    const value = (text: string, account?: string) =>
      metaValue({ messages: [textMessage(phone, text)] }, account);
    const body = {
      object: 'whatsapp_business_account',
      entry: [metaEntry(value('to the first')), metaEntry(value('to the second', SECOND_ACCOUNT))],
    };
    expect(await statusOf(body, number)).toBe(200);
    expect(await statusOf(metaBody(value('to the first again')), second)).toBe(200);
    const { data } = (await service.api.get(`/api/conversations?q=%2B${phone}`)).body;
    const found = data.map(async ({ id, channel_account }: Record<string, string>) => [
      channel_account,
      ...textsOf((await service.api.get(`/api/conversations/${id}`)).body),
    ]);
    expect((await Promise.all(found)).sort()).toEqual([
      [number.account, 'to the first', 'to the first again'],
      [SECOND_ACCOUNT, 'to the second'],
    ]);
  });

  it('is ignored, without harm to its neighbours, when its number is connected nowhere or only in another workspace', async () => {
    const [unknown, known, foreign] = [newPhone(), newPhone(), newPhone()];
    const value = (phone: string, account?: string) =>
      metaValue({ messages: [textMessage(phone, 'hi')] }, account);
    const elsewhere = await connectNumber(other, { account: '999999999999999' });
    const body = metaBody(
      value(unknown, '111111111111111'),
      value(foreign, elsewhere.account),
      value(known),
    );
    expect(await statusOf(body)).toBe(200);
    expect(await conversationOf(known)).toMatchObject({ message_count: 1 });
    for (const phone of [unknown, foreign])
      for (const api of [service.api, other]) expect(await conversationOf(phone, api)).toBeNull();
  });

  it('reaches the workspace whose address it came to, though another has connected the same number', async () => {
    const phone = newPhone();
    await send(metaText('to them', { phone }), theirs);
    expect(await conversationOf(phone)).toBeNull();
    expect(textsOf(await conversationOf(phone, other))).toEqual(['to them']);
    const wronglySigned = { ...theirs, appSecret: number.appSecret };
    expect(await statusOf(metaText('x', { phone }), wronglySigned)).toBe(401);
  });

  it('goes on in the same conversation after the number was disconnected and connected again', async () => {
    const account = '222222222222222';
    const phone = newPhone();
    const before = await connectNumber(service.api, { account });
    await send(metaText('before', { phone, account }), before);
    expect((await service.api.delete(`/api/channels/${before.id}`)).status).toBe(200);
    expect(await statusOf(metaText('lost', { phone, account }), before)).toBe(404);
    const after = await connectNumber(service.api, { account });
    await send(metaText('after', { phone, account }), after);
    expect(textsOf(await conversationOf(phone))).toEqual(['before', 'after']);
  });

  it('comes from somebody without a phone number too', async () => {
    const userId = 'US.13491208655302741918';
    await send(metaText('who am I', { phone: null, userId, name: 'Sheena' }));
    const payload = await waitFor('the event', () =>
      receiver.payloads('message.received').find(({ message }) => message.text === 'who am I'),
    );
    expect(payload.conversation).toMatchObject({
      contact_name: 'Sheena',
      contact_display: expect.stringMatching(/^Visitor /),
    });
    await send(metaMessage({ type: 'image', image: { id: '1' } }, { phone: null, userId }));
    const { body } = await service.api.get(`/api/conversations/${payload.conversation.id}`);
    expect(textsOf(body)).toEqual(['who am I', '[Picture]']);
    expect(body.contact).toMatchObject({ phone_masked: null, name: 'Sheena Nelson' });
  });

  it('makes each of two customers wait for the team whom one delivery names by the same number', async () => {
    const phone = newPhone();
    const userId = 'US.24602319766413853029';
    await send(metaText('hi', { phone, name: 'Nora' }));
    await send(metaText('hi', { phone: null, userId, name: 'Ida' }));
    const { body } = await service.api.get('/api/contacts?limit=2');
    for (const { last_conversation_id: id } of body.data) {
      const closing = { summary: 's', verdict: 'unknown' };
      expect((await service.api.post(`/api/conversations/${id}/close`, closing)).status).toBe(200);
    }

    const messages = [
      textMessage(phone, 'by number'),
      { ...textMessage(phone, 'by id'), from_user_id: userId },
    ];
    expect(await statusOf(metaBody(metaValue({ messages })))).toBe(200);
    const browser = await signedInBrowser(service.url);
    for (const [name, text] of [
      ['Nora', 'by number'],
      ['Ida', 'by id'],
    ])
      expect((await browser.get(`/conversations?tab=waiting&q=${name}`)).text).toMatch(
        new RegExp(`${name} .*${text} Waiting`),
      );
  });
});
