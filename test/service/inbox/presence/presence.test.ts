// Who looks and who writes: who is told, for how long, and how seldom it is stored.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweepAll } from '../../../../service/src/app/retention/housekeeping.ts';
import {
  presenceAfter,
  type Doing,
  type Presence,
} from '../../../../service/src/inbox/presence/presence.ts';
import { chatCustomer, type ChatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless } from '../../../helpers/browserless.ts';
import { readChatStream } from '../../../helpers/chatStreamReader.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { openFreshStore } from '../../../helpers/openStore.ts';
import { teamOfTwo } from '../../../helpers/teamOfTwo.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

describe('what is stored of a member who is there', () => {
  const of = { workspaceId: 'ws', conversationId: 'conv_1', memberId: 'mbr_1' };
  const start = Date.UTC(2026, 0, 1);

  /** How often what a page says is stored. */
  function stored(said: readonly (readonly [second: number, doing: Doing])[]): readonly number[] {
    let presence: Presence | null = null;
    const seconds: number[] = [];
    for (const [second, doing] of said) {
      const next = presenceAfter(presence, of, doing, new Date(start + second * 1000));
      if (next === null) continue;
      presence = next;
      seconds.push(second);
    }
    return seconds;
  }
  const every = (step: number, upTo: number, doing: Doing) =>
    Array.from({ length: upTo / step + 1 }, (_, at) => [at * step, doing] as const);

  it('is written about once a minute while they look, and never lapses between', () =>
    expect(stored(every(25, 200, 'looking'))).toEqual([0, 50, 100, 150, 200]));

  it('is written every five seconds while they write, however often they say so', () =>
    expect(stored(every(1, 20, 'writing'))).toEqual([0, 4, 8, 12, 16, 20]));

  it('is written when they stop or leave, once', () =>
    expect(
      stored([
        [0, 'writing'],
        [1, 'looking'],
        [2, 'stopped'],
        [3, 'stopped'],
        [4, 'left'],
        [5, 'left'],
      ]),
    ).toEqual([0, 2, 4]));
});

describe('who looks at a conversation', () => {
  let service: TestService;
  let ana: Browserless;
  let ben: Browserless;
  let customer: ChatCustomer;
  let path: string;

  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    ({ ana, ben } = await teamOfTwo(service));
    customer = await chatCustomer(service.url, { name: 'Aisha' });
    const { conversation_id: id } = await customer.write('Hello');
    path = `/conversations/${id}`;
    await ben.get('/account');
  });
  afterAll(() => service?.stop());

  const say = (who: Browserless, doing: string, to = path) => who.post(`${to}/presence`, { doing });

  it('is told to the others, with who writes, and to nobody of themselves', async () => {
    expect((await say(ben, 'looking')).status).toBe(204);
    expect((await ana.get(path)).text).toContain('Ben is here too');
    expect((await ana.get(`${path}/presence`)).text).toBe('B Ben is here too');
    await say(ben, 'writing');
    expect((await ana.get(`${path}/presence`)).text).toBe('B Ben is here too Ben is writing…');
    expect((await ben.get(`${path}/presence`)).text).toBe('');
    await say(ben, 'left');
    expect((await ana.get(path)).text).not.toContain('Ben is here');
  });

  it('is told neither to the customer nor by the API', async () => {
    const stream = await readChatStream(service.url, customer.token);
    await say(ben, 'writing');
    await ben.post(`${path}/note`, { note: 'They sound upset.' });
    await ben.post(`${path}/reply`, { text: 'Good morning' });
    await waitFor('the reply', () => stream.seen.some(({ text }) => text === 'Good morning'));
    const answers = [
      JSON.stringify(stream.told),
      JSON.stringify((await service.api.get(`/api${path}`)).body),
    ];
    for (const answer of answers) expect(answer).not.toMatch(/writing|presence|upset/);
    stream.close();
    await say(ben, 'left');
  });

  it('refuses what no page says, and knows no conversation of other workspaces', async () => {
    expect((await say(ben, 'dancing')).status).toBe(400);
    const missing = '/conversations/conv_01JXXXXXXXXXXXXXXXXXXXXXXX';
    expect((await say(ben, 'looking', missing)).status).toBe(404);
    expect((await ana.get(`${missing}/presence`)).status).toBe(404);
  });
});

describe('who has long been gone', () => {
  it('is removed by the clean-up', async () => {
    const { store, remove } = await openFreshStore();
    const now = new Date();
    const of = { workspaceId: 'ws', conversationId: 'conv_1' };
    const lately = new Date(now.getTime() - 10 * 60_000);
    await store.transaction(async (tx) => {
      await tx.presences.put(presenceAfter(null, { ...of, memberId: 'a' }, 'looking', lately)!);
      await tx.presences.put(presenceAfter(null, { ...of, memberId: 'b' }, 'looking', now)!);
    });
    await sweepAll(store, now, { days: 30, conversationDays: 0 });
    const left = await store.transaction((tx) =>
      tx.presences.find({ where: { conversationId: 'conv_1' }, limit: 9 }),
    );
    expect(left.map(({ memberId }) => memberId)).toEqual(['b']);
    await remove();
  });
});
