import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless, type Page } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { teamOfTwo } from '../../../helpers/teamOfTwo.ts';

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)> & \u202egnp.exe';

/** The page's own script tags are the only ones, and nothing else came in as markup. */
const expectEscaped = ({ html }: Page) => {
  expect(html).not.toContain('<script>alert');
  expect(html).not.toContain('<img src=x');
  expect(html).toContain('&lt;script>alert(1)&lt;/script>');
};

describe('the conversations screen', () => {
  let service: TestService;
  let ana: Browserless;
  let ben: Browserless;

  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    await service.addWorkspace('Other');
    ({ ana, ben } = await teamOfTwo(service));
  });
  afterAll(() => service?.stop());

  /** A customer who has written. */
  const customer = async (claims: Record<string, unknown> = {}, text = 'Hello') => {
    const chat = await chatCustomer(service.url, { workspace: 'test', ...claims });
    const { conversation_id: id } = await chat.write(text);
    return { chat, id, path: `/conversations/${id}` };
  };
  const close = (id: string, summary = 'x') =>
    service.api.post(`/api/conversations/${id}/close`, { verdict: 'unknown', summary });
  const record = async (id: string) => (await service.api.get(`/api/conversations/${id}`)).body;

  it('tells a team without conversations where customers write', async () => {
    const { text, html } = await ana.get('/conversations');
    expect(text).toContain('No conversations yet. Customers write at /chat');
    expect(html).toContain('href="/chat"');
    expect((await ana.get('/conversations?tab=waiting')).text).toContain(
      'No customer is waiting for an answer.',
    );
  });

  describe('the list', () => {
    const search = async (typed: string) =>
      (await ana.get(`/conversations?q=${encodeURIComponent(typed)}`)).html;

    it('shows the last message of each conversation and who has it, sorted by the last change', async () => {
      const first = await customer({ name: 'Zoe First' }, 'I came first');
      await customer({ name: 'Yan Second' }, 'I came second');
      await first.chat.write('and wrote again');
      const { text, html } = await ana.get('/conversations');
      expect(text).toMatch(
        /Zoe First 2 unread now and wrote again Waiting .*Yan Second 1 unread now I came second Waiting/,
      );
      expect(html).toContain(`href="${first.path}"`);
    });

    it('holds each conversation in its tabs', async () => {
      const names = async (tab: string) =>
        [...(await ana.get(`/conversations?tab=${tab}`)).html.matchAll(/class="who">(Tab \w+)</g)]
          .map(([, name]) => name)
          .sort();
      const mine = await customer({ name: 'Tab mine' });
      const his = await customer({ name: 'Tab his' });
      const ended = await customer({ name: 'Tab ended' });
      await customer({ name: 'Tab agent' });
      await ana.get(mine.path);
      await ana.post(`${mine.path}/take-over`);
      await ben.post(`${his.path}/take-over`);
      await close(ended.id);
      expect(await names('mine')).toEqual(['Tab mine']);
      expect(await names('closed')).toEqual(['Tab ended']);
      expect(await names('agent')).toEqual(['Tab agent']);
      expect(await names('all')).toEqual(['Tab agent', 'Tab ended', 'Tab his', 'Tab mine']);
    });

    it('finds people by name, number, e-mail and masked number, and says what was not found', async () => {
      const { id } = await customer({
        name: 'José Müller',
        phone: '+54 9 11 5555 0177',
        email: 'Jose@Example.com',
      });
      const masked = (await record(id)).contact.phone_masked as string;
      for (const typed of [
        'jose mul',
        'MÜLLER',
        '5555 0177',
        '+54 9 11 5555-0177',
        '0054911555501',
        'jose@exam',
        masked,
      ])
        expect([typed, (await search(typed)).includes(id)]).toEqual([typed, true]);
      const none = await ana.get(`/conversations?tab=mine&q=${encodeURIComponent(HOSTILE)}`);
      expect(none.text).toContain('in “Mine”. Search all conversations');
      expectEscaped(none);
    });

    it('finds what was said, with the words marked and a link to the message', async () => {
      const { id, chat } = await customer({ name: 'Searched' }, 'Hello! Where is order A-1042?');
      for (let i = 0; i < 55; i += 1) await chat.write(`And then ${i}`);
      const early = await search('order a-10');
      expect(early).toContain('Where is <mark>order</mark> <mark>A-1042</mark>?');
      const [, href] = new RegExp(`href="(/conversations/${id}[^"]*#msg_\\w+)"`).exec(early)!;
      const [path, anchor] = href!.replaceAll('&amp;', '&').split('#');
      expect((await ana.get(path!)).html).toContain(`id="${anchor}"`);
      expect(await search('then 54')).toContain(`And <mark>then</mark> <mark>54</mark>`);
      expect(await search('order 54')).not.toContain(id);
    });

    it('pages by the time of the last change, each conversation once', async () => {
      for (let i = 0; i < 55; i += 1) await customer({ name: `Paged ${i}` });
      const seen: string[] = [];
      // `rows=all` shows at once the rows that otherwise load on scrolling down.
      let path: string | undefined = '/conversations?rows=all';
      while (path !== undefined) {
        const page: Page = await ana.get(path);
        seen.push(...[...page.html.matchAll(/class="who">(Paged \d+)</g)].map(([, name]) => name!));
        path = /href="([^"]+)">Older conversations/.exec(page.html)?.[1]?.replaceAll('&amp;', '&');
      }
      expect(seen).toEqual(Array.from({ length: 55 }, (_, i) => `Paged ${54 - i}`));
    });

    it('shows the beginning of the list for an address that no page links to', async () => {
      for (const query of [
        'tab=nonsense',
        'older=x',
        'tab[]=all&q[]=a',
        'older=999999999999999_conv_00000000000000000000000000',
      ])
        expect((await ana.get(`/conversations?${query}`)).status).toBe(200);
    });

    it('loads again as a part of the page, with its tab still chosen', async () => {
      const part = await ana.get('/conversations/list?tab=agent');
      expect(part.html).not.toContain('<html');
      expect(part.html).toContain('aria-current="page"');
    });
  });

  describe('unread marks', () => {
    const markIn = async (browser: Browserless, id: string) => {
      const { html } = await browser.get('/conversations');
      return /(\d+) unread/.exec(html.slice(html.indexOf(id)).split('</a>')[0]!)?.[1] ?? null;
    };

    it('are each member’s own, and go when the thread is read', async () => {
      const { id, path, chat } = await customer({ name: 'Unread' });
      await chat.write('again');
      expect(await markIn(ana, id)).toBe('2');
      await ana.get(path);
      expect(await markIn(ana, id)).toBeNull();
      expect(await markIn(ben, id)).toBe('2');
      await chat.write('more');
      expect(await markIn(ana, id)).toBe('1');
    });

    it('stay while the page that loads again is in the background', async () => {
      const { id, path, chat } = await customer({ name: 'Background' });
      await ana.get(path);
      await chat.write('unseen');
      await ana.get(`${path}/items`, { 'x-page-hidden': 'yes' });
      expect(await markIn(ana, id)).toBe('1');
      await ana.get(`${path}/items`);
      expect(await markIn(ana, id)).toBeNull();
    });

    it('stay while an earlier page of the thread is open, whichever of its parts loads again', async () => {
      const { id, path, chat } = await customer({ name: 'Earlier' });
      for (let i = 0; i < 50; i += 1) await chat.write(`And then ${i}`);
      await ana.get(path);
      const { html } = await ana.get(`${path}?before=51`);
      await chat.write('unseen');
      const parts = [...html.matchAll(/hx-get="([^"]+)"/g)].map(([, href]) => href!);
      const ofThread = parts.filter((href) => href.startsWith(path));
      expect(ofThread).toEqual(
        expect.arrayContaining([
          `${path}/head`,
          `${path}/items?before=51`,
          `${path}/composer-note`,
        ]),
      );
      for (const href of ofThread) await ana.get(href);
      expect(await markIn(ana, id)).toBe('1');
    });

    it('are not shown on a closed conversation', async () => {
      const { id } = await customer({ name: 'Closed unread' });
      await close(id);
      expect(await markIn(ana, id)).toBeNull();
    });
  });

  describe('the thread', () => {
    it('says who wrote what, with the contact in the clear', async () => {
      const { id, path } = await customer(
        { name: 'Clara', phone: '+54 9 11 5555 0188', email: 'clara@example.com' },
        'My number is +54 9 11 5555 0188',
      );
      await service.api.post(`/api/conversations/${id}/messages`, { text: 'From a workflow' });
      await ana.get(path);
      await ana.post(`${path}/reply`, { text: 'From me' });
      const { text } = await ana.get(path);
      expect(text).toContain('Phone +5491155550188 Email clara@example.com Channel Web chat');
      expect(text).toMatch(
        /Clara customer My number is \+54 9 11 5555 0188 \d\d:\d\d .*Default key \(API\) sent a message and took over.*Default key API From a workflow \d\d:\d\d In the chat.*ana took over.*ana team From me \d\d:\d\d In the chat/,
      );
    });

    it('shows a note for the team with who wrote it, as text', async () => {
      const { id, path } = await customer({ name: 'Clara' }, 'Hello');
      await service.api.post(`/api/conversations/${id}/notes`, { text: `Call back. ${HOSTILE}` });
      const page = await ana.get(path);
      expect(page.text).toMatch(/Hello .*Default key \(API\) note for the team Call back\./);
      expectEscaped(page);
    });

    it('shows older messages on pages of their own, with what happened there', async () => {
      const { id, path, chat } = await customer({ name: 'Many' }, 'Message 1.');
      await service.api.post(`/api/conversations/${id}/takeover`);
      for (let i = 2; i <= 120; i += 1) await chat.write(`Message ${i}.`);
      const numbers = ({ text }: Page) =>
        [...text.matchAll(/Message (\d+)\./g)].map(([, number]) => Number(number));
      const range = (from: number, to: number) =>
        Array.from({ length: to - from + 1 }, (_, i) => from + i);
      const threadOf = (page: Page) => ({
        ...page,
        text: page.text.slice(page.text.indexOf('← All conversations')),
      });
      const newest = threadOf(await ana.get(path));
      expect(numbers(newest)).toEqual(range(71, 120));
      expect(newest.html).toContain(`href="${path}?before=71">Earlier messages`);
      expect(newest.text).not.toContain('took over');
      expect(numbers(threadOf(await ana.get(`${path}?before=71`)))).toEqual(range(21, 70));
      const oldest = threadOf(await ana.get(`${path}?before=21`));
      expect(numbers(oldest)).toEqual(range(1, 20));
      expect(oldest.text).toContain('took over');
      expect(oldest.text).toContain('Back to the newest messages');
      expect(oldest.text).not.toContain('Earlier messages');
    });

    it('shows the newest notes when more than 500 follow one message', async () => {
      const { id, path } = await customer({ name: 'Noted' }, 'Hello');
      const note = (text: string) => service.api.post(`/api/conversations/${id}/notes`, { text });
      await Promise.all(Array.from({ length: 500 }, () => note('One of many.')));
      await note('The last of all.');
      expect((await ana.get(`${path}/items`)).text).toContain('The last of all.');
    });

    it('leads from a closed conversation to the one that followed, and back', async () => {
      const { id, path, chat } = await customer({ name: 'Again' });
      await close(id);
      const { conversation_id: next } = await chat.write('I am back');
      expect((await ana.get(path)).html).toContain(
        `href="/conversations/${next}">Newer conversation`,
      );
      expect((await ana.get(`/conversations/${next}`)).html).toContain(
        `id="other-${id}" href="${path}">Started`,
      );
    });

    it('keeps the place in the list', async () => {
      const { path, id } = await customer({ name: 'Placed' });
      const { html } = await ana.get('/conversations?tab=agent&q=placed');
      expect(html).toContain(`href="${path}?tab=agent&amp;q=placed"`);
      const { path: after } = await ana.post(`/conversations/${id}/take-over?tab=agent&q=placed`);
      expect(after).toBe(`${path}?tab=agent&q=placed`);
    });

    it('of another workspace is not there, and cannot be changed', async () => {
      const stranger = await chatCustomer(service.url, { workspace: 'other' });
      const { conversation_id: id } = await stranger.write('secret of another');
      for (const part of ['', '/head', '/items', '/panel', '/composer-note', '/close']) {
        const { status, text } = await ana.get(`/conversations/${id}${part}`);
        expect([part, status]).toEqual([part, 404]);
        expect(text).not.toContain('secret of another');
        const missing = `/conversations/conv_00000000000000000000000000${part}`;
        expect((await ana.get(missing)).status).toBe(404);
      }
      const decide = 'tool-calls/call_00000000000000000000000000/decide';
      for (const action of ['take-over', 'hand-back', 'reply', 'stage', 'close', decide]) {
        const verdict = action === decide ? 'approve' : 'unknown';
        const values = { text: 'x', stage: 'lost', verdict, summary: 'x' };
        const { status } = await ana.post(`/conversations/${id}/${action}`, values);
        expect([action, status]).toEqual([action, 404]);
      }
      expect(await stranger.read()).toHaveLength(1);
    });
  });

  describe('actions', () => {
    it('take over and hand back, with the name of who did it', async () => {
      const { id, path } = await customer({ name: 'Handed' });
      const before = await ana.get(path);
      expect(before.text).toContain(
        'The agent is off, so no one answers until your team does. Your reply takes over the conversation.',
      );
      expect(before.text).not.toContain('Hand back');
      const taken = await ana.post(`${path}/take-over`);
      expect(taken.text).toContain('ana took over');
      expect(taken.text).toContain('With ana');
      expect(taken.html).not.toMatch(/>Take over/);
      expect(await record(id)).toMatchObject({
        status: 'human_active',
        handover: { reason: 'team_takeover', triggered_by: { type: 'team_member', name: 'ana' } },
      });
      const back = await ana.post(`${path}/hand-back`);
      expect(back.text).toContain('ana handed back to the agent');
      expect(await record(id)).toMatchObject({ status: 'ai_active' });
    });

    it('take over from another member', async () => {
      const { path } = await customer({ name: 'Passed on' });
      await ana.get(path);
      await ana.post(`${path}/take-over`);
      const his = await ben.get(path);
      expect(his.text).toContain('ana has this conversation. Your reply takes it over.');
      expect(his.text).toContain('Take over from ana');
      expect((await ben.post(`${path}/take-over`)).text).toContain('Ben took over');
      expect((await ana.get(path)).text).toContain('With Ben');
      expect((await ana.get('/conversations?tab=mine')).text).not.toContain('Passed on');
    });

    it('a reply takes over and reaches the customer, with a line feed for each line break', async () => {
      const { id, path, chat } = await customer({ name: 'Answered' });
      await ana.get(path);
      const sent = await ana.post(`${path}/reply`, { text: 'One\r\ntwo' });
      expect(sent.path).toBe(path);
      expect(await record(id)).toMatchObject({ status: 'human_active' });
      expect((await chat.read()).at(-1)).toMatchObject({ text: 'One\ntwo' });
    });

    it.each([
      ['nothing', '  ', 'Must not be empty.'],
      ['too much', 'x'.repeat(16_385), 'Must have at most 16384 characters.'],
    ])('a reply of %s is refused, and its text stays in the form', async (_, text, problem) => {
      const { path, chat } = await customer({ name: 'Refused' });
      await ana.get(path);
      const page = await ana.post(`${path}/reply`, { text });
      expect(page.status).toBe(400);
      expect(page.problem('text')).toBe(problem);
      expect(page.html).toContain(`>${text}</textarea>`);
      expect(await chat.read()).toHaveLength(1);
    });

    it('change the stage, but only to one of the stages', async () => {
      const { id, path } = await customer({ name: 'Staged' });
      await ana.get(path);
      const set = await ana.post(`${path}/stage`, { stage: 'qualified' });
      expect(set.text).toContain('ana changed the stage from New to Qualified');
      expect(await record(id)).toMatchObject({ funnel_stage: 'qualified' });
      const refused = await ana.post(`${path}/stage`, { stage: 'best' });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('Stage: Must be one of the stages.');
    });

    it('close, with a summary and a verdict', async () => {
      const { id, path } = await customer({ name: 'Ended' });
      const form = await ana.get(`${path}/close`);
      expect(form.text).toContain('Close this conversation Outcome');
      const empty = await ana.post(`${path}/close`, { verdict: '', summary: 'Kept' });
      expect(empty.status).toBe(400);
      expect(empty.text).toContain('Must be chosen.');
      expect(empty.html).toContain('>Kept</textarea>');
      const closed = await ana.post(`${path}/close`, {
        verdict: 'goal_reached',
        summary: 'Booked\r\nfor Tuesday',
      });
      expect(closed.text).toContain('Conversation closed.');
      expect(closed.text).toContain('ana closed the conversation');
      expect(closed.text).toContain('Goal reached. Booked for Tuesday');
      expect(await record(id)).toMatchObject({
        status: 'closed',
        outcome: {
          verdict: 'goal_reached',
          summary: 'Booked\nfor Tuesday',
          closed_by: { type: 'team_member', name: 'ana' },
        },
      });
    });

    it('on a conversation that has been closed are refused with a reason, and no text is lost', async () => {
      const { id, path } = await customer({ name: 'Too late' });
      await ana.get(path);
      await close(id, 'first');
      const reply = await ana.post(`${path}/reply`, { text: 'A long answer' });
      expect(reply.status).toBe(409);
      expect(reply.text).toContain('This conversation is already closed. Your reply was not sent.');
      expect(reply.text).toContain('Your reply: A long answer');
      for (const [action, values] of [
        ['take-over', {}],
        ['hand-back', {}],
        ['close', { verdict: 'unknown', summary: 'second' }],
      ] as const) {
        const page = await ana.post(`${path}/${action}`, values);
        expect(page.path).toBe(`${path}?notice=already-closed`);
        expect(page.text).toContain('This conversation was already closed. Nothing was changed.');
      }
      const closed = await ana.get(path);
      expect(closed.text).toContain('you can’t send messages');
      expect(closed.html).not.toMatch(/name="text"|\/take-over|\/hand-back|\/close"/);
      expect(await record(id)).toMatchObject({ outcome: { summary: 'first' } });
    });
  });

  describe('hostile texts', () => {
    it('are shown as text: names, messages, summaries, what was typed', async () => {
      const { path } = await customer({ name: HOSTILE }, HOSTILE);
      expectEscaped(await ana.get('/conversations'));
      expectEscaped(await ana.get(path));
      expectEscaped(await ana.post(`${path}/close`, { verdict: '', summary: HOSTILE }));
      expectEscaped(await ana.post(`${path}/reply`, { text: HOSTILE }));
      expectEscaped(await ana.post(`${path}/reply`, { text: HOSTILE + 'x'.repeat(10_000) }));
      expectEscaped(await ana.post(`${path}/close`, { verdict: 'unknown', summary: HOSTILE }));
    });

    it('of any length and direction fit', async () => {
      const text = 'שלום '.repeat(800).trim();
      const { path } = await customer({ name: 'ا'.repeat(100) }, text);
      const { html } = await ana.get(path);
      expect(html).toContain(`<p class="text" dir="auto">${text}</p>`);
    });
  });
});
