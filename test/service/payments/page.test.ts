import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../helpers/service.ts';
import { linkIn, makeLink, newConversation, pageOf, setUpManual } from './support.ts';

describe('the page where customers pay', () => {
  let service: TestService;
  let conversationId: string;
  let skewMs = 0;
  const start = async (options: TestServiceOptions = {}) => {
    service = await startTestService({
      clock: { now: () => new Date(Date.now() + skewMs) },
      ...options,
    });
  };
  const prepare = async () => {
    skewMs = 0;
    await setUpManual(service);
    conversationId = await newConversation(service);
  };
  beforeAll(() => start());
  beforeEach(prepare);
  afterAll(() => service?.stop());

  const open = async (link: { url: string }, query = '') => {
    const response = await fetch(pageOf(service, link, query), { redirect: 'manual' });
    return { response, text: (await response.text()).replace(/\u00a0/g, ' ') };
  };

  it('shows the workspace, the amount, what it is for, how to pay and the reference', async () => {
    const link = await makeLink(service, conversationId, {
      amount: 4900,
      currency: 'kwd',
      description: '<b>Demo</b> & "more"',
    });
    const { response, text } = await open(link);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(text).toContain('<p class="to" dir="auto">Test</p>');
    expect(text).toContain('<h1>KWD 4.900</h1>');
    expect(text).toContain('&lt;b>Demo&lt;/b> &amp; &quot;more&quot;');
    expect(text).toContain('Transfer to DE00 0000 0000\nwith &lt;your> reference &amp; name.');
    expect(text).toContain(`<dd class="reference">${link.id}</dd>`);
    expect(text).not.toMatch(
      /<script(?! type="module" src="\/assets\/times)|http-equiv="refresh"|style=/,
    );
  });

  it('is private: neither cached, indexed nor framed, and its policy allows nothing unsafe', async () => {
    const { response, text } = await open(await makeLink(service, conversationId));
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('same-origin');
    expect(response.headers.get('x-robots-tag')).toBe('noindex');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(text).toContain('<meta name="robots" content="noindex"');
    const style = /href="(\/assets\/pay\.css[^"]+)"/.exec(text)![1]!;
    expect((await fetch(service.url + style)).headers.get('content-type')).toMatch(/^text\/css/);
  });

  it('says that it is paid, and when', async () => {
    const link = await makeLink(service, conversationId);
    const { body: paid } = await service.api.post(`/api/payment-links/${link.id}/mark-paid`, {});
    const { text } = await open(link);
    expect(text).toContain('<h2>Paid</h2>');
    expect(text).toContain(`<time datetime="${paid.paid_at}"`);
    expect(text).not.toContain('How to pay');
  });

  it('says that it was cancelled, and no longer how to pay', async () => {
    const link = await makeLink(service, conversationId);
    await service.api.post(`/api/payment-links/${link.id}/cancel`);
    const { text } = await open(link);
    expect(text).toContain('<h2>Cancelled</h2>');
    expect(text).not.toContain('DE00');
  });

  it('says that it has expired as soon as its time is over', async () => {
    const link = await makeLink(service, conversationId, { expires_in: 60 });
    skewMs = 60_000;
    for (const moment of ['as the time ends', 'when it is on record']) {
      const { text } = await open(link);
      expect({ moment, text }).toMatchObject({ text: expect.stringContaining('<h2>Expired</h2>') });
      expect(text).not.toContain('DE00');
      await linkIn(service, link.id, 'expired');
    }
  });

  it('says whom to ask when the instructions are gone', async () => {
    const link = await makeLink(service, conversationId);
    await service.api.delete('/api/payment-accounts/manual');
    expect((await open(link)).text).toContain('Ask Test how to pay.');
  });

  it('answers 404 with a page for an unknown token', async () => {
    const link = await makeLink(service, conversationId);
    const tokens = [
      'x',
      'A'.repeat(32),
      link.id,
      `${new URL(link.url).pathname.slice(5)}x`,
      '%00',
      '..%2f..',
      'A'.repeat(4000),
    ];
    for (const token of tokens) {
      const response = await fetch(`${service.url}/pay/${token}`);
      expect([token, response.status]).toEqual([token, 404]);
      expect(await response.text()).toContain('There is nothing to pay here');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('cannot be guessed: tokens have nothing in common', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 5 }, async () =>
        new URL((await makeLink(service, conversationId)).url).pathname.slice(5),
      ),
    );
    expect(new Set(tokens.map((token) => token.slice(0, 6))).size).toBe(5);
    for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
  });

  it('is shown to one visitor only so many times a minute, and then says when to come back', async () => {
    await service.restart({ ADDRESS_BUDGET: '0.01' });
    const link = await makeLink(service, conversationId);
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await open(link));
    expect(answers.map(({ response }) => response.status)).toEqual([200, 200, 200, 429]);
    expect(Number(answers[3]!.response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answers[3]!.text).toContain('Wait a minute');
  });

  it('leaves no token in the log', async () => {
    await service.stop();
    let written = '';
    const sink = { write: (line: string) => void (written += line) };
    await start({ log: pino({ level: 'trace' }, sink) });
    await prepare();
    const link = await makeLink(service, conversationId);
    await open(link);
    await open({ url: link.url.replace('/pay/', '/pay/x') });
    expect(written).toContain('"path":"/pay/:token"');
    expect(written).not.toContain(new URL(link.url).pathname.slice(5));
  });
});
