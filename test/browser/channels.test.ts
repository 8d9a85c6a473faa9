// WhatsApp on the screens: an account is connected and tested, and messages show their delivery.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { graphError, TEST_NUMBER, type WhatsAppStatus } from '../helpers/graphServer.ts';
import {
  connectNumber,
  deliver,
  metaText,
  type ConnectedNumber,
  type FromCustomer,
} from '../helpers/meta.ts';
import type { BrowserWindow } from './browser.ts';
import { expectNoReload, markPage, team, useTeam } from './team.ts';

const APP_SECRET = 'app-secret-0f3a9b7c';

describe('WhatsApp', () => {
  useTeam({ env: { CHANNEL_RETRY_DELAYS_MS: '50,50,50,50' } });
  let window: BrowserWindow;
  let page: Page;

  beforeEach(async () => {
    window = await team.openSignedIn('/channels');
    ({ page } = window);
  });
  afterEach(async () => {
    for (const { id } of (await team.service.api.get('/api/channels')).body.data)
      await team.service.api.delete(`/api/channels/${id}`);
  });

  const button = (name: string | RegExp, on = page) => on.getByRole('button', { name });
  const connect = () =>
    connectNumber(team.service.api, { appSecret: APP_SECRET, accessToken: team.graph.accessToken });

  let customers = 0;
  /** A customer writes on WhatsApp. @returns their phone and the path of the conversation */
  async function write(number: ConnectedNumber, text: string, from: FromCustomer = {}) {
    const phone = from.phone ?? `1650555${2000 + (customers += 1)}`;
    const message = metaText(text, { name: 'Nadia', ...from, phone });
    expect((await deliver(team.service.url, number, message)).status).toBe(200);
    const { body } = await team.service.api.post('/api/contacts/lookup', { phone: `+${phone}` });
    return { phone, path: `/conversations/${body.id}` };
  }

  /** Meta reports how far a message of the service has come. */
  async function report(number: ConnectedNumber, status: WhatsAppStatus, text: string) {
    const message = team.graph.taken.find(({ body }) => body.text.body === text)!;
    await deliver(team.service.url, number, team.graph.statusWebhook(message, status));
  }

  async function connectByForm(on: Page) {
    await on.getByLabel('Name', { exact: true }).fill('Harbour shop');
    await on.getByLabel('Phone number ID').fill(TEST_NUMBER.id);
    await on.getByLabel('Access token').fill(team.graph.accessToken);
    await on.getByLabel('App secret').fill(APP_SECRET);
    await button('Connect', on).click();
    await on.getByRole('heading', { name: 'Set up WhatsApp' }).waitFor();
  }

  it('is connected and tested, and shows by itself when it has delivered something', async () => {
    await button('Connect WhatsApp').click();
    await connectByForm(page);
    await page.getByText('not tested', { exact: true }).waitFor();
    await button('Test connection').click();
    await page.getByText('working', { exact: true }).waitFor();
    await page
      .getByText(`WhatsApp knows this number as ${TEST_NUMBER.display_phone_number}`)
      .waitFor();
    await page.getByText('Nothing received from WhatsApp yet.').waitFor();
    await markPage(page);

    const { body } = await team.service.api.get('/api/channels');
    const [{ id, settings, webhook_url: address }] = body.data;
    expect(await page.locator('#webhook-address').innerText()).toBe(address);
    const number = {
      id,
      account: TEST_NUMBER.id,
      appSecret: APP_SECRET,
      verifyToken: settings.verify_token,
      path: new URL(address).pathname,
    };
    await write(number, 'Hello');
    await page.getByText(/Last received from WhatsApp:/).waitFor();
    await expectNoReload(page);
  });

  it('shows by itself how far a reply has come, and keeps a half-typed text', async () => {
    const number = await connect();
    const { path } = await write(number, 'Is it open?');
    await page.goto(team.service.url + path);
    await page.getByLabel('Your reply').fill('Yes, until six');
    await button('Send').click();
    const message = page.getByRole('article').filter({ hasText: 'Yes, until six' });
    await message.getByText('Sent to WhatsApp').waitFor();
    await markPage(page);
    await page.getByLabel('Your reply').fill('And tomorrow');
    for (const [status, words] of [
      ['delivered', 'Delivered'],
      ['read', 'Read'],
    ] as const) {
      await report(number, status, 'Yes, until six');
      await message.getByText(words, { exact: true }).waitFor();
    }
    expect(await page.getByLabel('Your reply').inputValue()).toBe('And tomorrow');
    await expectNoReload(page);
    team.graph.answerWith(
      graphError(400, { code: 131026, message: '(#131026) Message undeliverable' }),
    );
    await button('Send').click();
    const failed = page.getByRole('article').filter({ hasText: 'And tomorrow' });
    await failed.getByText('Not delivered.').waitFor();
    expect(await window.axe()).toEqual([]);
  });

  it('takes the Send button away while its window is closed, and gives it back when the customer writes', async () => {
    const number = await connect();
    const { path, phone } = await write(number, 'Long ago', {
      timestamp: String(Math.floor(Date.now() / 1000) - 25 * 3600),
    });
    await page.goto(team.service.url + path);
    await page.getByText('WhatsApp accepts no messages until the customer writes again.').waitFor();
    expect(await button('Send').isVisible()).toBe(false);
    expect(await window.axe()).toEqual([]);
    await markPage(page);
    await write(number, 'I am back', { phone });
    await button('Send').waitFor();
    expect(await page.getByText('accepts no messages').count()).toBe(0);
    await expectNoReload(page);
    await page.getByLabel('Your reply').fill('Welcome');
    await button('Send').click();
    await page
      .getByRole('article')
      .filter({ hasText: 'Welcome' })
      .getByText('Sent to WhatsApp')
      .waitFor();
  });

  it('is connected, changed and disconnected without JavaScript, on a phone', async () => {
    const { page: plain, overflow } = await team.openSignedIn('/channels', {
      width: 360,
      height: 740,
      context: { javaScriptEnabled: false },
    });
    await button('Connect WhatsApp', plain).click();
    await connectByForm(plain);
    expect(await overflow()).toEqual([]);
    const longName = 'W'.repeat(100);
    await plain.getByLabel('Name', { exact: true }).fill(longName);
    await button('Save', plain).click();
    await plain.getByRole('heading', { name: longName }).waitFor();
    await plain.getByText('Disconnect…').click();
    expect(await overflow()).toEqual([]);
    await plain.goto(`${team.service.url}/channels`);
    expect(await overflow()).toEqual([]);
    await plain.getByRole('link', { name: longName }).click();
    await button('Test connection', plain).click();
    await plain.getByText('The connection works.').waitFor();
    await plain.getByText('Disconnect…').click();
    await button(/^Yes, disconnect/, plain).click();
    await plain.getByText('No connected accounts yet.').waitFor();
  });
});
