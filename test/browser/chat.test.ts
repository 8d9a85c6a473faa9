import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { chatCustomer } from '../helpers/apiClient.ts';
import { readChatStream, type ChatStreamReader } from '../helpers/chatStreamReader.ts';
import { startFlakyProxy } from '../helpers/flakyProxy.ts';
import { freePort } from '../helpers/program.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { launchBrowser, openWindow, type BrowserWindow, type WindowOptions } from './browser.ts';

const HOSTILE = [
  '<script>window.hacked = true</script>',
  '<img src=x onerror="window.hacked = true">',
  'javascript:alert(1) data:text/html,<b>x</b> https://shop.example.com@evil.example/',
  '\u202eتجربة من اليمين إلى اليسار\u202c </p></div>',
  'x'.repeat(4096),
];

describe('the chat page in a browser', () => {
  let browser: Browser;
  let service: TestService;
  let window: BrowserWindow;
  let page: Page;

  beforeAll(async () => {
    [browser, service] = await Promise.all([
      launchBrowser(),
      startTestService({
        env: {
          PORT: String(await freePort()),
          BOOTSTRAP_WORKSPACE: 'Acme',
          AGENT_QUIET_MS: '50',
        },
      }),
    ]);
    await service.api.patch('/api/agent', {
      enabled: true,
      name: 'Ana',
      greeting: 'Hello from Acme!',
    });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });
  beforeEach(() => open());
  afterEach(() => window.close());

  async function open(options?: WindowOptions) {
    window = await openWindow(browser, options);
    page = window.page;
  }
  const reopen = async (options: WindowOptions) => {
    await window.close();
    await open(options);
  };

  const composer = () => page.getByRole('textbox', { name: 'Your message' });
  const messages = () => page.getByRole('article');
  const texts = () => page.locator('article .text').allTextContents();
  const openChat = async () => {
    await page.goto(`${service.url}/chat`);
    await composer().waitFor();
  };
  const write = async (text: string) => {
    await composer().fill(text);
    await composer().press('Enter');
  };
  const greeting = (tab = page) => tab.getByText('Hello from Acme!');
  /** Opens the chat and writes, and the agent greets. */
  const beginChat = async (text = 'Hello') => {
    await openChat();
    await write(text);
    await greeting().waitFor();
  };
  const conversations = async () => (await service.api.get('/api/conversations')).body.data;
  const newest = async () => (await conversations())[0];
  const reply = async (text: string) =>
    service.api.post(`/api/conversations/${(await newest()).id}/messages`, { text });
  /** The texts that the service has stored. */
  const stored = async (): Promise<string[]> =>
    (await service.api.get(`/api/conversations/${(await newest()).id}`)).body.messages.map(
      ({ text }: { text: string }) => text,
    );

  const waitUntilSame = () =>
    waitFor(
      'the same texts on the page and in the service',
      async () => JSON.stringify(await texts()) === JSON.stringify(await stored()),
    );
  const unsent = (tab: Page) => tab.locator('.state', { hasText: 'Not sent yet' });

  it('shows what the customer writes at once, and the agent’s answer as it comes', async () => {
    await openChat();
    await page.getByLabel('Name').fill('María');
    await page.getByLabel('Email').fill('maria@example.com');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await greeting().waitFor();
    expect(await messages().allInnerTexts()).toEqual([
      expect.stringMatching(/^You \d.*Hello$/s),
      expect.stringMatching(/^Ana Assistant .*Hello from Acme!/s),
    ]);
    expect((await newest()).contact).toMatchObject({
      name: 'María',
      email_masked: 'm••••@e••••••.com',
    });
    await window.screenshot('chat-light');
  });

  it('asks for another email address when the one given is invalid', async () => {
    window.allowErrors(/400 \(Bad Request\)/);
    await openChat();
    const before = (await conversations()).length;
    await page.getByLabel('Email').fill('maria at example');
    await write('Hello');
    expect(await page.getByRole('alert').innerText()).toContain('Enter a valid email address');
    expect(await composer().inputValue()).toBe('Hello');
    // The browser accepts this address, and the service does not.
    await page.getByLabel('Email').fill('maria@exa_mple.x');
    await write('Hello');
    await page.locator('.state', { hasText: 'Not sent:' }).waitFor();
    expect((await conversations()).length).toBe(before);
    await page.getByLabel('Email').fill('maria@example.com');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Try again' }).click();
    await greeting().waitFor();
  });

  it('keeps the conversation over a reload, and shows it in another tab too', async () => {
    await beginChat();
    const before = await texts();
    await page.reload();
    await greeting().waitFor();
    expect(await texts()).toEqual(before);
    const tab = await window.context.newPage();
    await tab.goto(`${service.url}/chat`);
    await greeting(tab).waitFor();
    await reply('to both');
    await tab.getByText('to both').waitFor();
    await page.getByText('to both').waitFor();
    await tab.getByRole('textbox', { name: 'Your message' }).fill('from the other tab');
    await tab.keyboard.press('Enter');
    await page.getByText('from the other tab').waitFor();
    expect(await texts()).toEqual(await stored());
  });

  it('keeps what is half written over a reload, until it is sent', async () => {
    await openChat();
    await composer().fill('I was about to');
    await page.reload();
    await composer().waitFor();
    expect(await composer().inputValue()).toBe('I was about to');
    await composer().press('Enter');
    await page.getByText('I was about to').waitFor();
    await page.reload();
    await composer().waitFor();
    expect(await composer().inputValue()).toBe('');
  });

  it('connects again after the service was restarted; nothing is lost or doubled', async () => {
    window.allowErrors(
      /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/,
    );
    await beginChat('before');
    await reply('one');
    await page.getByText('one', { exact: true }).waitFor();
    const startedAt = Date.now();
    const restarted = service.restart();
    await write('written while it restarts');
    await restarted;
    // An open page does not delay the stop, which gives requests 10 s to end.
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    await reply('two');
    await page.getByText('two', { exact: true }).waitFor();
    await waitUntilSame();
    expect((await stored()).filter((text) => text === 'written while it restarts')).toHaveLength(1);
    await page.locator('#connection').waitFor({ state: 'hidden' });
  });

  it('sends once what was written offline, when the network is back and also after a reload', async () => {
    window.allowErrors(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|ERR_NETWORK_CHANGED/);
    await beginChat('online');
    await window.context.setOffline(true);
    await page.locator('#connection', { hasText: 'You are offline' }).waitFor();
    await write('written offline');
    await unsent(page).waitFor();
    await reply('replied in between');
    await window.screenshot('chat-offline');
    await window.context.setOffline(false);
    await page.getByText('replied in between').waitFor();
    await waitFor('the message', async () => (await stored()).includes('written offline'));
    await waitUntilSame();
    expect(await unsent(page).count()).toBe(0);

    await window.context.route('**/api/chat/messages', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await write('kept over a reload');
    await unsent(page).waitFor();
    await window.context.unroute('**/api/chat/messages');
    await page.reload();
    await waitFor('the message', async () => (await stored()).includes('kept over a reload'));
    await waitUntilSame();
  });

  it('keeps a message that was refused over a reload, and sends it then', async () => {
    window.allowErrors(/403 \(Forbidden\)/);
    await beginChat();
    await window.context.route('**/api/chat/messages', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 403, json: { error: { code: 'x', message: 'No entry.' } } })
        : route.continue(),
    );
    const refused = page.locator('.state', { hasText: 'Not sent: No entry.' });
    await write('refused at first');
    await refused.waitFor();
    await page.reload();
    await refused.waitFor();
    await window.context.unroute('**/api/chat/messages');
    await page.reload();
    await waitFor('the message', async () => (await stored()).includes('refused at first'));
    await waitUntilSame();
    expect(await refused.count()).toBe(0);
  });

  it('opens one conversation for a first message that two tabs hold unsent', async () => {
    window.allowErrors(/ERR_FAILED/);
    await window.context.route('**/api/chat/sessions', (route) => route.abort());
    // What one tab stores can reach the other one late; here the token never does.
    await window.context.addInitScript(() => {
      const { getItem } = Storage.prototype;
      Storage.prototype.getItem = function (key) {
        return key.endsWith(':token') ? null : getItem.call(this, key);
      };
    });
    await openChat();
    const before = (await conversations()).length;
    await write('held by both');
    await unsent(page).waitFor();
    const tab = await window.context.newPage();
    await tab.goto(`${service.url}/chat`);
    await unsent(tab).waitFor();
    await window.context.unroute('**/api/chat/sessions');
    for (const each of [page, tab]) await greeting(each).waitFor();
    for (const each of [page, tab])
      expect(await each.locator('article.customer .text').allTextContents()).toEqual([
        'held by both',
      ]);
    expect((await conversations()).length).toBe(before + 1);
  });

  it('sends a message once although the answer to the first attempt was lost', async () => {
    window.allowErrors(/ERR_FAILED/);
    await beginChat('first');
    let attempts = 0;
    await page.route('**/api/chat/messages', async (route) => {
      if (route.request().method() !== 'POST' || attempts++ > 0) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await write('answer lost');
    await waitFor('the second attempt', () => attempts > 1);
    await waitUntilSame();
    expect((await texts()).filter((text) => text === 'answer lost')).toHaveLength(1);
  });

  it('sends and shows each message once, in order, over connections that break again and again', async () => {
    window.allowErrors(/ERR_/);
    // Without stalls: the page takes 20 to 40 seconds to notice a silent connection, which another
    // test proves.
    const proxy = await startFlakyProxy(service.url, { seed: 7, share: 0.8, stalls: false });
    try {
      proxy.setFaulty(false);
      await page.goto(`${proxy.url}/chat`);
      await composer().waitFor();
      await write('begun');
      await greeting().waitFor();
      proxy.breakAll();
      proxy.setFaulty(true);
      const mine = Array.from({ length: 12 }, (_, n) => `mine ${n + 1}`);
      const theirs = Array.from({ length: 12 }, (_, n) => `theirs ${n + 1}`);
      for (const [n, text] of mine.entries()) {
        await write(text);
        await reply(theirs[n]!);
      }
      const isAllStored = async () => (await stored()).length === 2 + mine.length + theirs.length;
      await waitFor('the last message to be sent by itself', isAllStored, {
        timeoutMs: 90_000,
        everyMs: 200,
      });
      expect(Object.keys(proxy.struck)).toEqual(
        expect.arrayContaining([
          'cut before the request',
          'cut before the answer',
          'cut within the answer',
        ]),
      );
      proxy.setFaulty(false);
      await waitUntilSame();
      expect((await stored()).filter((text) => text.startsWith('mine'))).toEqual(mine);
      expect((await stored()).filter((text) => text.startsWith('theirs'))).toEqual(theirs);
      expect(await page.locator('.pending').count()).toBe(0);
    } finally {
      await proxy.close();
    }
  });

  it('polls for messages, without fighting for its stream, when the customer has too many tabs', async () => {
    window.allowErrors(/ERR_/);
    await beginChat();
    let streams = 0;
    await page.route('**/api/chat/stream', (route) => {
      streams += 1;
      return route.continue();
    });
    const token = await page.evaluate(
      () => Object.entries(localStorage).find(([key]) => key.endsWith(':token'))![1] as string,
    );
    const others: ChatStreamReader[] = [];
    for (let n = 0; n < 3; n++) others.push(await readChatStream(service.url, token));
    // The page's stream was the oldest and has ended. The page gets its messages all the same.
    await reply('without a stream');
    for (const each of others)
      await waitFor('the reply', () => each.seen.some(({ text }) => text === 'without a stream'));
    await page.getByText('without a stream').waitFor();
    expect(streams).toBe(0);
    // When the customer comes back to the tab, it takes a stream again.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await waitFor('the stream', () => streams === 1);
    expect(await others[0]!.ended).toBe(true);
    await reply('live again');
    await page.getByText('live again').waitFor();
    expect(await texts()).toEqual(await stored());
    for (const each of others) each.close();
  });

  it('polls for messages while its address has too many streams, shows no warning, and takes a stream once there is room', async () => {
    window.allowErrors(/429|ERR_/);
    await service.restart({ ADDRESS_BUDGET: '1' });
    const streams: ChatStreamReader[] = [];
    try {
      while (streams.length < 100) {
        const { token } = await chatCustomer(service.url);
        for (let n = 0; n < 3 && streams.length < 100; n++)
          streams.push(await readChatStream(service.url, token));
      }
      const statuses: number[] = [];
      page.on('response', (response) => {
        if (response.url().endsWith('/api/chat/stream')) statuses.push(response.status());
      });
      await beginChat();
      expect(statuses).toEqual([429]);
      for (const text of ['one', 'two', 'three']) {
        await reply(text);
        await page.getByText(text, { exact: true }).waitFor();
        await write(`after ${text}`);
        await waitFor('it to be stored', async () => (await stored()).includes(`after ${text}`));
        expect(await page.locator('#connection').isHidden()).toBe(true);
      }
      await waitUntilSame();
      expect(statuses).toEqual([429]);
      for (const each of streams.splice(0)) each.close();
      await waitFor('the stream', async () => {
        await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
        return statuses.at(-1) === 200;
      });
      await reply('live again');
      await page.getByText('live again').waitFor();
      expect(await texts()).toEqual(await stored());
      expect(await page.locator('.pending').count()).toBe(0);
    } finally {
      for (const each of streams) each.close();
      await service.restart();
    }
  });

  it('tells the customer that they write too fast, and sends the message later', async () => {
    window.allowErrors(/429/);
    await openChat();
    let refused = 0;
    await page.route('**/api/chat/messages', (route) =>
      route.request().method() === 'POST' && refused++ === 0
        ? route.fulfill({
            status: 429,
            headers: { 'Retry-After': '1' },
            json: { error: { code: 'rate_limited', message: 'too many' } },
          })
        : route.continue(),
    );
    await write('Hello');
    await page.getByRole('article').getByText('You are sending messages too fast').waitFor();
    await greeting().waitFor();
  });

  it('says how long it waits when a proxy refuses without saying how long', async () => {
    window.allowErrors(/429/);
    await openChat();
    await page.route('**/api/chat/messages', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 429 }) : route.continue(),
    );
    await write('Hello');
    await page
      .getByRole('article')
      .getByText(/Trying again in [34] s/)
      .waitFor();
    await page.unrouteAll();
    await greeting().waitFor();
  });

  it('starts over, and says so, when the service no longer knows the token', async () => {
    window.allowErrors(/401/);
    const keepUnknownToken = () =>
      page.evaluate(async () => {
        for (const key of Object.keys(localStorage))
          if (key.endsWith(':token')) localStorage.setItem(key, 'cst_unknown');
        for (const name of await caches.keys())
          await (await caches.open(name)).put('/token', new Response('cst_unknown'));
      });
    await beginChat();
    await keepUnknownToken();
    await page.reload();
    await page.getByText('Your earlier conversation is no longer available').waitFor();
    await write('Hello again');
    await greeting().waitFor();
    expect((await texts())[0]).toBe('Hello again');
    await keepUnknownToken();
    await write('and once more');
    await page.getByText('This conversation has ended').waitFor();
    await waitFor('the message', async () => (await stored()).includes('and once more'));
  });

  it('opens a new conversation after one was closed', async () => {
    await beginChat();
    const closed = await newest();
    await service.api.post(`/api/conversations/${closed.id}/close`, {
      summary: 'done',
      verdict: 'goal_reached',
    });
    const notice = 'This conversation was closed. Your next message starts a new one.';
    const line = page.locator('#log').getByText(notice);
    await line.waitFor();
    expect(await page.locator('#announcer').innerText()).toContain(notice);
    await page.reload();
    await line.waitFor();
    await write('One more thing');
    await page.getByText('New conversation').waitFor();
    expect(await newest()).toMatchObject({ previous_conversation_id: closed.id });
    expect(await line.count()).toBe(1);
  });

  it('has its own words in Spanish for a browser that asks for Spanish', async () => {
    await reopen({ context: { locale: 'es-AR' } });
    await page.goto(`${service.url}/chat`);
    const field = page.getByRole('textbox', { name: 'Su mensaje' });
    await field.fill('Hola');
    await field.press('Enter');
    await greeting().waitFor();
    await page.getByText('Hoy', { exact: true }).waitFor();
    expect(await messages().allInnerTexts()).toEqual([
      expect.stringMatching(/^Usted \d.*Hola$/s),
      expect.stringMatching(/^Ana Asistente /),
    ]);
  });

  it('shows hostile texts of both sides as text, and links only to http and https', async () => {
    await openChat();
    await page.getByLabel('Name').fill('<b onclick=alert(1)>Ana</b>');
    for (const text of HOSTILE) {
      await write(text);
      await waitFor(
        'it to be stored',
        async () => (await newest())?.contact.name !== undefined && (await stored()).includes(text),
      );
      await reply(text);
    }
    await reply(
      'see https://shop.example.com/a?b=c&d=%3Cscript%3E. <a href="javascript:alert(1)">or this</a> (and https://shop.example.com/sizes_(shoes)).',
    );
    await page.getByText('or this').waitFor();
    expect(await texts()).toEqual(await stored());
    const links = await page
      .locator('article a')
      .evaluateAll((all) =>
        all.map((a) => [a.getAttribute('href'), a.getAttribute('rel'), a.getAttribute('target')]),
      );
    expect(links).toEqual([
      ['https://shop.example.com/a?b=c&d=%3Cscript%3E', 'noopener noreferrer nofollow', '_blank'],
      ['https://shop.example.com/sizes_(shoes)', 'noopener noreferrer nofollow', '_blank'],
    ]);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await window.overflow()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await window.overflow()).toEqual([]);
  });

  it('counts the characters near the limit and sends nothing beyond it', async () => {
    await openChat();
    await composer().fill('🙂'.repeat(4090));
    expect(await page.locator('#counter').innerText()).toBe('Characters left: 6');
    await composer().fill('🙂'.repeat(4100));
    expect(await page.locator('#counter').innerText()).toBe('Characters over the limit: 4');
    await composer().press('Enter');
    expect(await messages().count()).toBe(0);
    expect(await page.locator('#announcer').innerText()).toContain('Characters over the limit: 4');
    await composer().fill('short');
    expect(await page.locator('#counter').isVisible()).toBe(false);
  });

  it('notices a connection that a sleep has killed, and one that is silent', async () => {
    await page.clock.install();
    let streams = 0;
    await page.route('**/api/chat/stream', (route) => {
      streams += 1;
      // The second stream is accepted and never sends anything.
      return streams === 2 ? undefined : route.continue();
    });
    await openChat();
    await write('Hello');
    await page.clock.runFor(3000);
    await greeting().waitFor();
    await page.clock.fastForward(60_000);
    await waitFor('another stream', () => streams > 1);
    await reply('in between');
    await page.clock.runFor(42_000);
    await waitFor('a third stream', async () => {
      await page.clock.runFor(1000);
      return streams > 2;
    });
    await page.getByText('in between').waitFor();
    expect(await texts()).toEqual(await stored());
  });

  it('calls yesterday what was today, once midnight has passed', async () => {
    await page.clock.install();
    await openChat();
    await write('Hello');
    const day = page.locator('.separator time').first();
    expect(await day.textContent()).toBe('Today');
    await page.clock.fastForward('24:00:00');
    expect(await day.textContent()).toBe('Yesterday');
  });

  it('works by keyboard alone', async () => {
    await openChat();
    const reached: string[] = [];
    for (let n = 0; n < 8; n++) {
      await page.keyboard.press('Tab');
      reached.push(
        await page.evaluate(
          () => document.activeElement!.id || document.activeElement!.textContent!,
        ),
      );
    }
    expect(reached).toEqual(
      expect.arrayContaining(['name', 'email', 'Continue', 'skip', 'text', 'Send']),
    );
    await page.locator('#skip').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await greeting().waitFor();
    expect((await texts())[0]).toBe('one\ntwo');
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('text');
  });

  it('leaves a reader who has scrolled up where they are, and offers the way back', async () => {
    await reopen({ width: 360, height: 600 });
    await beginChat();
    for (let n = 0; n < 12; n++) await reply(`line ${n}`);
    await page.getByText('line 11').waitFor();
    const scroll = page.locator('#scroll');
    const waitForEnd = () =>
      waitFor('the end', () =>
        scroll.evaluate(
          ({ scrollHeight, scrollTop, clientHeight }) =>
            scrollHeight - scrollTop - clientHeight < 5,
        ),
      );
    await waitForEnd();
    await scroll.evaluate(
      (element) =>
        new Promise((resolve) => {
          element.addEventListener('scroll', resolve, { once: true });
          element.scrollTop = 0;
        }),
    );
    await reply('the newest');
    const toNewMessages = page.getByRole('button', { name: 'New messages' });
    await toNewMessages.waitFor();
    expect(await scroll.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    await toNewMessages.click();
    await waitForEnd();
  });

  it('fits and has nothing for axe to find, light and dark, on a phone and in a large window', async () => {
    const expectFit = async (name: string) => {
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 740 });
        expect([await window.axeLightAndDark(), await window.overflow()]).toEqual([[], []]);
        await window.screenshot(`chat-${width}${name}`);
      }
    };
    await openChat();
    await expectFit('-empty');
    await write('Hello');
    await greeting().waitFor();
    await reply('More at https://shop.example.com/.');
    await page.getByText('More at').waitFor();
    await expectFit('');
  });
});
