import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseBody } from '../../../../service/src/channels/whatsapp/inbound.ts';
import { verifyRequest } from '../../../../service/src/channels/whatsapp/verifyRequest.ts';
import type { OpenAccount } from '../../../../service/src/channels/channelAdapter.ts';
import { cpuMsOf } from '../../../helpers/cpuTime.ts';
import {
  CUSTOMER,
  PHONE_NUMBER_ID,
  metaBody,
  metaEntry,
  metaMessage,
  metaStatus,
  metaText,
  metaValue,
  sign,
  textMessage,
} from '../../../helpers/meta.ts';
import { FAILED_STATUS, MESSAGE_EXAMPLES, numberChanged } from '../../../helpers/metaExamples.ts';

const USER_ID = 'US.13491208655302741918';
const OUTBOUND_ID = `out_01JD6Z${'0'.repeat(19)}A`;
const text = (id: string, body: string, from = CUSTOMER) => textMessage(from, body, id);

const parseMessages = (...messages: unknown[]) => parseBody(metaBody(metaValue({ messages })));

describe('what WhatsApp delivers', () => {
  it.each(MESSAGE_EXAMPLES)('is told in words: $name', ({ message, text }) => {
    expect(parseBody(metaMessage(message, { id: 'wamid.A', timestamp: '1739321024' }))).toEqual([
      {
        type: 'message',
        account: PHONE_NUMBER_ID,
        from: { phone: CUSTOMER, userId: null, name: 'Sheena Nelson' },
        id: 'wamid.A',
        text,
        sentAt: new Date('2025-02-12T00:43:44Z'),
      },
    ]);
  });

  it.each([
    [{ emoji: '👍', message_id: 'wamid.B' }, 'reacted with 👍'],
    [{ message_id: 'wamid.B' }, 'removed a reaction'],
    [{ emoji: '', message_id: 'wamid.B' }, 'removed a reaction'],
    [{ emoji: '😀'.repeat(5000) }, `reacted with ${'😀'.repeat(19)}…`],
  ])('is a note and no message when it is a reaction: case %#', (reaction, words) => {
    expect(parseBody(metaMessage({ type: 'reaction', reaction }))).toMatchObject([
      { type: 'note', text: words, from: { phone: CUSTOMER }, changedTo: null },
    ]);
  });

  it('tells of a new number by what WhatsApp says, not by words that the customer has a hand in', () => {
    const message = numberChanged(CUSTOMER, '12195555358', 'wamid.S');
    expect(parseMessages(message)).toMatchObject([
      {
        type: 'note',
        from: { phone: CUSTOMER, userId: null },
        changedTo: { phone: '12195555358', userId: null },
        text: 'has changed their phone number',
      },
    ]);
    const nameless = {
      ...message,
      from: undefined,
      system: { ...message.system, body: `User x changed from ${USER_ID} to y` },
    };
    expect(parseMessages(nameless)).toEqual([]);
  });

  it('knows somebody without a phone number by the user id, and both where both come', () => {
    const who = (body: unknown) =>
      parseBody(body).map((item) => (item.type === 'receipt' ? null : item.from));
    expect(who(metaText('hi', { phone: null, userId: USER_ID }))).toEqual([
      { phone: null, userId: USER_ID, name: 'Sheena Nelson' },
    ]);
    expect(who(metaText('hi', { userId: USER_ID }))).toEqual([
      { phone: CUSTOMER, userId: USER_ID, name: 'Sheena Nelson' },
    ]);
    // Some send the id in the place of the number.
    expect(who(metaBody(metaValue({ messages: [text('a', 'hi', USER_ID)] })))).toEqual([
      { phone: null, userId: USER_ID, name: null },
    ]);
    const contacts = [{ profile: { username: 'sheena' }, user_id: USER_ID }];
    const messages = [{ ...text('a', 'hi'), from: undefined }];
    expect(who(metaBody(metaValue({ contacts, messages })))).toEqual([
      { phone: null, userId: USER_ID, name: 'sheena' },
    ]);
    expect(who(metaBody(metaValue({ messages: [text('a', 'hi', 'nobody')] })))).toEqual([]);
  });

  it('matches each message with its own contact, and none with another', () => {
    const contacts = [
      { profile: { name: 'Ana' }, wa_id: '5491155551111', user_id: 'AR.1' },
      { profile: { name: 'Ben' }, wa_id: '5491155552222' },
    ];
    const messages = [
      text('a', 'from Ben', '5491155552222'),
      text('b', 'from Ana', '5491155551111'),
      text('c', 'from nobody listed', '5491155553333'),
    ];
    const items = parseBody(metaBody(metaValue({ contacts, messages })));
    expect(items.map((item) => item.type !== 'receipt' && item.from)).toEqual([
      { phone: '5491155552222', userId: null, name: 'Ben' },
      { phone: '5491155551111', userId: 'AR.1', name: 'Ana' },
      { phone: '5491155553333', userId: null, name: null },
    ]);
  });

  it('is read over all entries, changes, messages and statuses, in order, whatever stands between', () => {
    const foreign = metaValue({ messages: [text('no', 'not of this field')] });
    const body = {
      object: 'whatsapp_business_account',
      entry: [
        metaEntry(
          metaValue({ messages: [text('1', 'a'), null, 'x', { type: 'text' }, text('2', 'b')] }),
          metaValue({ statuses: [{ id: 'wamid.X', status: 'read' }, 7] }),
        ),
        null,
        { id: '0', changes: [{ field: 'account_update', value: foreign }, {}, 'x'] },
        metaEntry(metaValue({ messages: [text('3', 'c')] }, '111111'), {
          messages: [text('no', 'of no account')],
        }),
      ],
    };
    expect(
      parseBody(body).map((item) => [
        item.account,
        item.type === 'receipt' ? item.state : item.text,
      ]),
    ).toEqual([
      [PHONE_NUMBER_ID, 'a'],
      [PHONE_NUMBER_ID, 'b'],
      [PHONE_NUMBER_ID, 'read'],
      ['111111', 'c'],
    ]);
  });

  it.each([
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
    ['played', 'read'],
  ])('is a receipt: %s', (status, state) => {
    const example = {
      id: 'wamid.X',
      status,
      biz_opaque_callback_data: OUTBOUND_ID,
      conversation: { id: 'c', origin: { type: 'service' } },
      pricing: { billable: true, pricing_model: 'CBP', category: 'service' },
    };
    expect(parseBody(metaStatus(example))).toEqual([
      {
        type: 'receipt',
        account: PHONE_NUMBER_ID,
        channelMessageId: 'wamid.X',
        outboundMessageId: OUTBOUND_ID,
        state,
        error: null,
      },
    ]);
  });

  it('says in words why a text failed, and passes over statuses and callback data that are not ours', () => {
    const parsed = (status: Record<string, unknown>) => parseBody(metaStatus(status));
    const id = 'wamid.X';
    expect(
      parsed({ id, biz_opaque_callback_data: 'someone else', ...FAILED_STATUS }),
    ).toMatchObject([
      {
        outboundMessageId: null,
        state: 'failed',
        error: expect.stringMatching(/24 hours.*131047/),
      },
    ]);
    expect(parsed({ id, status: 'failed' })).toMatchObject([
      { state: 'failed', error: expect.stringMatching(/\w+/) },
    ]);
    for (const status of [
      { id, status: 'deleted' },
      { id, status: 'toString' },
      { status: 'read' },
    ])
      expect(parsed(status)).toEqual([]);
  });

  it('has texts and names that can be stored: in whole characters, bounded, without NUL and half surrogates', () => {
    const [long] = parseBody(metaText('😀'.repeat(5000), { name: '😀'.repeat(300) }));
    expect(long).toMatchObject({
      text: `${'😀'.repeat(4095)}…`,
      from: { name: `${'😀'.repeat(199)}…` },
    });
    expect(parseBody(metaText('x'.repeat(4096)))).toMatchObject([{ text: 'x'.repeat(4096) }]);
    expect(parseBody(metaText('😀'.repeat(4096)))).toMatchObject([{ text: '😀'.repeat(4096) }]);
    expect(parseBody(metaText('a\0b\ud800c'))).toMatchObject([{ text: 'ab\ufffdc' }]);
    expect(parseBody(metaText('\0 \n'))).toMatchObject([
      { text: '[Message that cannot be shown here (text)]' },
    ]);
  });

  it.each(['', '0', '-5', 'soon', '99999999999999', '9999999999999999999999'])(
    'has no time when the timestamp makes no sense: %j',
    (timestamp) => {
      expect(parseBody(metaText('hi', { timestamp }))).toMatchObject([
        { text: 'hi', sentAt: null },
      ]);
    },
  );

  it('never throws, and a broken message never costs its neighbours', () => {
    const anything = fc.jsonValue({ maxDepth: 4 });
    const types = MESSAGE_EXAMPLES.map(({ message }) => message.type).filter(
      (type) => typeof type === 'string',
    );
    // A known kind with content of any shape: what a change on Meta's side would look like.
    const broken = fc
      .tuple(
        fc.constantFrom(...types, 'reaction', 'system', 'revoke'),
        anything,
        anything,
        fc.dictionary(fc.string(), anything),
      )
      .map(([type, content, contacts, more]) => ({
        ...text('wamid.broken', ''),
        ...more,
        type,
        [type]: content,
        contacts,
      }));
    fc.assert(
      fc.property(fc.oneof(anything, broken), anything, (message, contacts) => {
        const body = JSON.parse(
          JSON.stringify(
            metaBody({
              ...metaValue({ messages: [text('first', 'before'), message, text('last', 'after')] }),
              contacts,
            }),
          ),
        );
        const texts = parseBody(body).map((item) => (item.type === 'message' ? item.text : ''));
        return texts[0] === 'before' && texts.at(-1) === 'after' && texts.length <= 3;
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(anything, (body) => Array.isArray(parseBody(body))));
  });

  it('reads 20,000 messages of one sender in time that grows with their number alone', () => {
    const messages = Array.from({ length: 20_000 }, (_, n) => text(`wamid.${n}`, 'hi'));
    const contacts = [{ profile: { name: 'Ana' }, wa_id: '1' }];
    const body = metaBody(metaValue({ contacts, messages }));
    expect(cpuMsOf(() => expect(parseBody(body)).toHaveLength(20_000))).toBeLessThan(5000);
  });
});

it('an account without a secret or a verify token takes nothing', () => {
  const account = { values: {} } as OpenAccount;
  const rawBody = Buffer.from('{}');
  const headers = { 'x-hub-signature-256': sign(rawBody, '') };
  const query = { 'hub.mode': 'subscribe', 'hub.verify_token': '', 'hub.challenge': '1' };
  for (const request of [
    { method: 'POST', query: {}, headers, rawBody },
    { method: 'GET', query, headers: {}, rawBody: Buffer.alloc(0) },
  ] as const)
    expect(verifyRequest(request, account)).toMatchObject({ type: 'refused' });
});
