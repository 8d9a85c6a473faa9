import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AGENT_QUEUE } from '../../../service/src/agent/agentSettings.ts';
import { timestamp } from '../../../service/src/platform/clock.ts';
import type { Tx } from '../../../service/src/store/collections.ts';
import type { Contact } from '../../../service/src/conversations/contact.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import {
  groupInbound,
  type InboundItem,
  type InboundSender,
} from '../../../service/src/channels/inbound.ts';
import type { Message } from '../../../service/src/conversations/message.ts';
import { findChannelAt } from '../../../service/src/channels/operations/channels.ts';
import { receiveInbound } from '../../../service/src/channels/operations/receiveInbound.ts';
import { updateAgentSettings } from '../../../service/src/agent/operations/settings.ts';
import type { Query } from '../../../service/src/store/store.ts';
import {
  ACCOUNT,
  channel,
  connect,
  contacts,
  conversations,
  deps,
  message,
  nextId,
  NOW,
  PHONE,
  store,
  take,
  useInbound,
  who,
  workspace,
} from './inboundStage.ts';

let storeAheadMs: number;
let now: Date;
beforeEach(() => {
  now = NOW;
  storeAheadMs = 0;
});
useInbound({ now: () => now, aheadMs: () => storeAheadMs });

const note = (from: InboundSender, text: string, more: object = {}): InboundItem => ({
  type: 'note',
  account: ACCOUNT,
  from,
  id: nextId(),
  text,
  sentAt: NOW,
  changedTo: null,
  ...more,
});

const textsOf = async (contact: Contact) => {
  const texts: string[] = [];
  for (const { id } of await conversations(contact)) {
    const messages = await store.transaction((tx) =>
      tx.messages.find({ where: { conversationId: id }, orderBy: 'number', limit: 100 }),
    );
    texts.push(...messages.map(({ text }) => text));
  }
  return texts;
};
const notesOf = async (contact: Contact) => {
  const [last] = await conversations(contact);
  return store.transaction((tx) =>
    tx.systemNotes.find({
      where: { conversationId: last!.id },
      orderBy: 'afterMessage',
      limit: 100,
    }),
  );
};

describe('who has written', () => {
  it('is one contact by phone number or user id, whichever comes, and gains the other', async () => {
    await take(message(who(PHONE, null, 'Ana')));
    await take(message(who(PHONE, 'AR.1')));
    await take(message(who(null, 'AR.1', 'Ana B')));
    const [contact, ...others] = await contacts();
    expect(others).toEqual([]);
    expect(contact).toMatchObject({
      channel: 'whatsapp_cloud',
      channelAccount: ACCOUNT,
      phone: PHONE,
      channelUserId: 'AR.1',
      name: 'Ana B',
      verified: true,
    });
    await take(message(who(null, 'AR.2')));
    await take(message(who('5491155550002', 'AR.2')));
    expect((await contacts())[1]).toMatchObject({ phone: '5491155550002', channelUserId: 'AR.2' });
  });

  it('is the one with the user id when number and id name two contacts', async () => {
    await take(message(who(PHONE), 'by number'));
    await take(message(who(null, 'AR.1'), 'by id'));
    await take(message(who(PHONE, 'AR.1'), 'by both'));
    const [byPhone, byId, ...others] = await contacts();
    expect(others).toEqual([]);
    expect(await textsOf(byPhone!)).toEqual(['by number']);
    expect(await textsOf(byId!)).toEqual(['by id', 'by both']);
    expect(byPhone).toMatchObject({ phone: PHONE, channelUserId: null });
    expect(byId).toMatchObject({ phone: null, channelUserId: 'AR.1' });
  });

  it('keeps the number when the user id is new, and the user id when the number is new', async () => {
    await take(message(who(PHONE, 'AR.1')));
    await take(message(who(PHONE, 'AR.9')));
    await take(message(who('5491155550009', 'AR.9')));
    expect(await contacts()).toMatchObject([{ phone: '5491155550009', channelUserId: 'AR.9' }]);
  });

  it('is another contact for another number of the workspace', async () => {
    await connect('222222');
    await take(
      message(who(PHONE, 'AR.1')),
      message(who(PHONE, 'AR.1'), 'hi', { account: '222222' }),
    );
    const accounts = (await contacts()).map(({ channelAccount }) => channelAccount);
    expect(accounts.sort()).toEqual([ACCOUNT, '222222']);
  });

  it('has written at the time that the channel gives, but not in the future, and never earlier than before', async () => {
    const at = async (sentAt: Date | null) => {
      await take(message(who(PHONE), 'hi', { sentAt }));
      return (await contacts())[0]!.lastWroteAt;
    };
    const nine = new Date('2026-11-21T09:00:00Z');
    expect(await at(nine)).toBe(timestamp(nine));
    expect(await at(new Date('2026-11-21T08:00:00Z'))).toBe(timestamp(nine));
    expect(await at(new Date('2026-11-22T00:00:00Z'))).toBe(timestamp(NOW));
    now = new Date('2026-11-21T11:00:00Z');
    expect(await at(null)).toBe(timestamp(now));
  });
});

describe('what is delivered together', () => {
  it('is grouped by person, also where a later message shows that two are one', () => {
    const phone = message(who('1'));
    const userId = message(who(null, 'A'));
    const another = message(who('2'));
    const both = message(who('1', 'A'));
    const later = message(who(null, 'A'));
    const elsewhere = message(who('1'), 'hi', { account: 'b' });
    const groups = groupInbound([phone, userId, another, both, later, elsewhere]);
    const expected = [[phone, userId, both, later], [another], [elsewhere]];
    expect(groups).toEqual(expect.arrayContaining(expected));
    expect(groups).toHaveLength(3);
  });

  it('loses nothing and keeps the order for each contact', () => {
    const key = fc.option(fc.constantFrom('1', '2', '3', '4'), { nil: null });
    fc.assert(
      fc.property(fc.array(fc.tuple(key, key)), (pairs) => {
        const items = pairs
          .filter(([phone, userId]) => phone ?? userId)
          .map(([phone, userId]) => message(who(phone, userId && `U.${userId}`)));
        const groups = groupInbound(items);
        const inOrder = groups.every((group) =>
          group.every((item, n) => n === 0 || items.indexOf(group[n - 1]!) < items.indexOf(item)),
        );
        const names = groups.map(
          (group) =>
            new Set(
              group
                .flatMap((item) =>
                  item.type === 'receipt' ? [] : [item.from.phone, item.from.userId],
                )
                .filter(Boolean),
            ),
        );
        const disjoint = names.every((each, n) =>
          names.slice(n + 1).every((other) => each.isDisjointFrom(other)),
        );
        return inOrder && disjoint && groups.flat().length === items.length;
      }),
    );
  });

  it('is stored except for the part that fails, which is reported; a repeat adds that part alone', async () => {
    const good = message(who(PHONE), 'good');
    const bad = Array.from({ length: 60 }, (_, n) =>
      message(who(String(5491155551000 + n)), 'bad'),
    );
    const breaking = (tx: Tx): Tx => {
      const put = (doc: Message) =>
        doc.text === 'bad' ? Promise.reject(new Error('broken')) : tx.messages.put(doc);
      const messages = {
        get: (id: string) => tx.messages.get(id),
        find: (query: Query<Message>) => tx.messages.find(query),
        put,
        delete: (id: string) => tx.messages.delete(id),
      };
      return new Proxy(tx, {
        get: (target, name) => (name === 'messages' ? messages : target[name as keyof Tx]),
      });
    };
    const failing: Deps = {
      ...deps,
      store: { transaction: (fn) => store.transaction((tx) => fn(breaking(tx))) },
    };
    await expect(receiveInbound(failing, channel, [...bad, good])).rejects.toThrow('broken');
    expect(await contacts()).toMatchObject([{ phone: PHONE }]);
    await take(...bad, good);
    const texts = await Promise.all((await contacts()).map(textsOf));
    expect(texts.flat().sort()).toEqual([...bad.map(() => 'bad'), 'good']);
  });

  it('wakes the agent once for each contact, after the customer has been quiet; notes and repeats wake nobody', async () => {
    await updateAgentSettings(deps, workspace, { enabled: true });
    const claim = () => {
      storeAheadMs = 10_000;
      return store.claim({ queue: AGENT_QUEUE, limit: 10, freeSlots: () => 10, leaseMs: 1000 });
    };
    const items = [message(who(PHONE), 'a'), message(who(PHONE), 'b')];
    await take(...items);
    const jobs = await claim();
    expect(jobs).toMatchObject([{ runAt: now.getTime() + 800 }]);
    await store.transaction((tx) => tx.jobs.complete(jobs[0]!.id));
    await take(...items, note(who(PHONE), 'reacted with 👍'));
    expect(await claim()).toEqual([]);
  });

  it('records when the channel delivered, at most once a minute', async () => {
    const seen = async () =>
      (await store.transaction((tx) => tx.channels.get(channel.id)))!.lastInboundAt;
    await take();
    expect(await seen()).toBe(timestamp(NOW));
    now = new Date(NOW.getTime() + 59_000);
    await take();
    expect(await seen()).toBe(timestamp(NOW));
    now = new Date(NOW.getTime() + 60_000);
    await take();
    expect(await seen()).toBe(timestamp(now));
    now = new Date(NOW.getTime() - 3_600_000); // the clock was put right
    await take();
    expect(await seen()).toBe(timestamp(now));
  });
});

it('an address names a channel by its type too', async () => {
  expect(await findChannelAt(deps, 'whatsapp_cloud', channel.id)).toMatchObject({ id: channel.id });
  expect(await findChannelAt(deps, 'web_chat', channel.id)).toBeNull();
});

describe('what is no message', () => {
  it('stands in the last conversation, once, behind the message it came after', async () => {
    await take(message(who(PHONE), 'hi'));
    const reaction = note(who(PHONE), 'reacted with 👍');
    await take(reaction, reaction);
    await take(reaction);
    await take(
      message(who(PHONE), 'and'),
      reaction,
      note(who(PHONE), 'removed a reaction', { sentAt: null }),
    );
    const [contact] = await contacts();
    const id = expect.stringMatching(/^note_[0-9A-HJKMNP-TV-Z]{26}$/);
    const noteOf = (text: string) => ({ type: 'channel_note', text });
    expect(await notesOf(contact!)).toMatchObject([
      { id, afterMessage: 1, change: noteOf('reacted with 👍') },
      { id, afterMessage: 2, change: noteOf('removed a reaction') },
    ]);
    expect(await conversations(contact!)).toMatchObject([{ messageCount: 2, controlEpoch: 2 }]);
  });

  it('opens no conversation and makes no contact', async () => {
    await take(note(who(PHONE), 'reacted with 👍'));
    expect(await contacts()).toEqual([]);
  });

  it('gives a contact a new number, if nobody has it', async () => {
    await take(message(who(PHONE), 'old number'));
    const change = (from: string, changedTo: object) =>
      take(note(who(from), 'has changed their phone number', { changedTo }));
    await change(PHONE, { phone: '12195555358', userId: null });
    await take(message(who('12195555358'), 'new number'));
    const [contact, ...others] = await contacts();
    expect(others).toEqual([]);
    expect(contact!.phone).toBe('12195555358');
    expect(await textsOf(contact!)).toEqual(['old number', 'new number']);
    expect(await notesOf(contact!)).toHaveLength(1);

    await take(message(who('5491155550002', 'AR.2'), 'another'));
    await change('12195555358', { phone: '5491155550002', userId: 'AR.2' });
    expect(await contacts()).toMatchObject([
      { phone: '12195555358', channelUserId: null },
      { phone: '5491155550002', channelUserId: 'AR.2' },
    ]);
  });
});

describe.each([
  ['number', { phone: '12195555358', userId: null }, { phone: '12195555358' }],
  ['user id', { phone: null, userId: 'AR.2' }, { channelUserId: 'AR.2' }],
])('the notice of a new %s', (_what, changedTo, changed) => {
  const expected = { phone: PHONE, channelUserId: 'AR.1', ...changed };
  const notice = () => note(who(PHONE, 'AR.1'), 'has changed', { changedTo });
  beforeEach(() => take(message(who(PHONE, 'AR.1'))));

  it('changes nothing when it comes again', async () => {
    const first = notice();
    await take(first);
    await take(first);
    expect(await contacts()).toMatchObject([expected]);
  });

  it('leaves everything as it is when a message with the new one was faster', async () => {
    await take(message(who(expected.phone, expected.channelUserId)));
    await take(notice());
    expect(await contacts()).toMatchObject([expected]);
  });

  it('is not undone by an earlier message that comes late', async () => {
    await take(notice());
    await take(message(who(PHONE, 'AR.1'), 'late', { sentAt: new Date(NOW.getTime() - 1000) }));
    expect(await contacts()).toMatchObject([expected]);
    expect(await textsOf((await contacts())[0]!)).toEqual(['hi', 'late']);
  });

  it('is not undone by the late notice of an earlier change', async () => {
    await take(notice());
    const sentAt = new Date(NOW.getTime() - 1000);
    const before = { phone: '12195555000', userId: 'AR.0' };
    await take(note(who(PHONE, 'AR.1'), 'has changed', { changedTo: before, sentAt }));
    expect(await contacts()).toMatchObject([expected]);
  });
});

it('a message that comes late brings back no former number or name', async () => {
  await take(message(who('12195555358', 'AR.1', 'Maria')));
  await take(message(who(PHONE, 'AR.1', 'M.'), 'late', { sentAt: new Date(NOW.getTime() - 1000) }));
  expect(await contacts()).toMatchObject([{ phone: '12195555358', name: 'Maria' }]);
});
