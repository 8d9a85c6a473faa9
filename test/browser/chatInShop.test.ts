import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page, Route } from 'playwright-core';
import { freePort } from '../helpers/program.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { listenTracked, type TrackedServer } from '../helpers/trackedServer.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { launchBrowser, openWindow, type BrowserWindow, type WindowOptions } from './browser.ts';

/** A page of another origin that embeds the chat, twice by mistake. */
async function startShop(serviceUrl: string, port: number): Promise<TrackedServer> {
  const snippet = `<script src="${serviceUrl}/chat/embed.js" data-workspace="acme" defer></script>`;
  const policy = `default-src 'none'; script-src ${serviceUrl}; frame-src ${serviceUrl}; img-src data:`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy });
    response.end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title><link rel="icon" href="data:,"><main><h1>Shop</h1><p><a href="/">Home</a></p></main>${snippet}${snippet}</html>`,
    );
  });
  return listenTracked(server, port, '127.0.0.1');
}

describe('the chat in a shop’s page', () => {
  let browser: Browser;
  let service: TestService;
  let shop: TrackedServer;
  /** A page whose origin is not in CHAT_FRAME_ORIGINS. */
  let stranger: TrackedServer;
  let window: BrowserWindow;
  let page: Page;

  beforeAll(async () => {
    const shopPort = await freePort();
    [browser, service] = await Promise.all([
      launchBrowser(),
      startTestService({
        env: {
          BOOTSTRAP_WORKSPACE: 'Acme',
          AGENT_QUIET_MS: '50',
          CHAT_FRAME_ORIGINS: `http://127.0.0.1:${shopPort},http://localhost:${shopPort}`,
        },
      }),
    ]);
    await service.api.patch('/api/agent', { enabled: true, greeting: 'Hello from Acme!' });
    shop = await startShop(service.url, shopPort);
    stranger = await startShop(service.url, await freePort());
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
    await stranger?.close();
    await service?.stop();
  });
  beforeEach(() => open());
  afterEach(() => window.close());

  async function open(options?: WindowOptions) {
    window = await openWindow(browser, options);
    page = window.page;
  }

  const frame = () => page.frameLocator('iframe');
  const composer = () => frame().getByRole('textbox', { name: 'Your message' });
  const opener = () => page.getByRole('button', { name: /^Chat with us/ });
  const isFrameFocused = () =>
    page.evaluate(
      () =>
        document.querySelector('[data-conversation-service-chat]')!.shadowRoot!.activeElement
          ?.tagName === 'IFRAME',
    );

  it('opens once in a frame, answers there, closes by Escape, and tells of new messages', async () => {
    await page.goto(`http://127.0.0.1:${shop.port}/`);
    expect(await opener().count()).toBe(1);
    expect(await page.locator('iframe').count()).toBe(0);
    await opener().focus();
    await page.keyboard.press('Enter');
    await composer().waitFor();
    await waitFor('the focus in the frame', isFrameFocused);
    await waitFor('the focus on the text', () =>
      composer().evaluate((element) => element === document.activeElement),
    );
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await frame().getByText('Hello from Acme!').waitFor();
    expect(await window.axe()).toEqual([]);
    await window.screenshot('chat-in-a-shop');
    await page.keyboard.press('Escape');
    await page.locator('iframe').waitFor({ state: 'hidden' });
    expect(
      await opener().evaluate(
        (element) => (element.getRootNode() as ShadowRoot).activeElement === element,
      ),
    ).toBe(true);
    const [conversation] = (await service.api.get('/api/conversations')).body.data;
    await service.api.post(`/api/conversations/${conversation.id}/messages`, {
      text: 'are you there?',
    });
    await page.getByRole('button', { name: 'Chat with us: new messages' }).click();
    await frame().getByText('are you there?').waitFor();
    expect(await page.getByRole('button', { name: /new messages/ }).count()).toBe(0);
  });

  it('is open again on the next page, with its conversation, and adds no global name', async () => {
    const globalNames = () => page.evaluate(() => Object.keys(globalThis));
    const withoutChat = (route: Route) =>
      route.fulfill({ contentType: 'text/javascript', body: '' });
    await page.route('**/chat/embed.js', withoutChat);
    await page.goto(`http://127.0.0.1:${shop.port}/`);
    const names = await globalNames();
    await page.unroute('**/chat/embed.js');
    await page.reload();
    await opener().click();
    await composer().fill('Hello');
    await composer().press('Enter');
    await frame().getByText('Hello from Acme!').waitFor();
    await page.reload();
    await frame().getByText('Hello from Acme!').waitFor();
    expect(await isFrameFocused()).toBe(false);
    expect(await globalNames()).toEqual(names);
    await page.getByRole('button', { name: 'Close the chat' }).click();
    await page.reload();
    await opener().waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
  });

  it('fills the screen of a phone, and can be closed there', async () => {
    await window.close();
    // Measured at once: without the animation that lets the panel rise.
    await open({
      width: 360,
      height: 640,
      context: { hasTouch: true, isMobile: true, reducedMotion: 'reduce' },
    });
    await page.goto(`http://127.0.0.1:${shop.port}/`);
    await opener().tap();
    await composer().waitFor();
    expect(await page.locator('iframe').boundingBox()).toEqual({
      x: 0,
      y: 0,
      width: 360,
      height: 640,
    });
    await window.screenshot('chat-in-a-shop-360');
    await page.getByRole('button', { name: 'Close the chat' }).tap();
    await opener().waitFor();
  });

  it('works on another site, where a browser gives the frame no storage', async () => {
    // As in a private window. The headless shell has no setting for this.
    await window.context.addInitScript(() => {
      if (globalThis.top === globalThis.self) return;
      const refuse = () => {
        throw new DOMException('Access is denied for this document.', 'SecurityError');
      };
      for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
        Object.defineProperty(globalThis, name, { get: refuse });
      for (const name of ['open', 'keys', 'has', 'match', 'delete'])
        Object.defineProperty(CacheStorage.prototype, name, {
          value: async () => refuse(),
        });
    });
    await page.goto(`http://localhost:${shop.port}/`);
    await opener().click();
    await composer().waitFor();
    const inFrame = page.frames().at(-1)!;
    expect(
      await inFrame.evaluate(() => {
        try {
          return localStorage.length;
        } catch (error) {
          return (error as Error).name;
        }
      }),
    ).toBe('SecurityError');
    await composer().fill('Hello');
    await composer().press('Enter');
    await frame().getByText('Hello from Acme!').waitFor();
  });

  it('is refused to a page whose origin is not on the list; the team’s pages are refused to every page', async () => {
    window.allowErrors(/frame-ancestors|X-Frame-Options|ERR_BLOCKED_BY_RESPONSE|chrome-error/i);
    const countRefused = () =>
      page.frames().filter((each) => each.url().startsWith('chrome-error:')).length;
    await page.goto(`http://127.0.0.1:${stranger.port}/`);
    await opener().click();
    await waitFor('the refusal', () => countRefused() === 1);
    await page.getByRole('button', { name: 'Close the chat' }).click();

    await page.goto(`http://127.0.0.1:${shop.port}/`);
    const paths = ['/sign-in', '/conversations', '/api/docs'];
    for (const path of paths)
      await page.evaluate(
        (src) => document.body.append(Object.assign(document.createElement('iframe'), { src })),
        service.url + path,
      );
    await waitFor('every page to be refused', () => countRefused() === paths.length);
  });
});
