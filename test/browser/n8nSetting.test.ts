// The team tells where n8n runs, in the set-up form and under Settings.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { MEMBER } from '../helpers/browserless.ts';
import { freePort } from '../helpers/program.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { launchBrowser, openWindow, type BrowserWindow } from './browser.ts';
import { fillSetUp, fillSignIn } from './team.ts';

describe('where n8n runs', () => {
  let service: TestService;
  let browser: Browser;
  let window: BrowserWindow | undefined;
  beforeAll(async () => {
    const env = {
      PORT: String(await freePort()),
      BOOTSTRAP_API_KEY: '',
      BOOTSTRAP_WORKSPACE: '',
      ALLOWED_NETWORKS: '',
    };
    [service, browser] = await Promise.all([startTestService({ env }), launchBrowser()]);
  });
  afterEach(() => window?.close());
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();

  it('is asked at the first start and changed under Settings', async () => {
    window = await openWindow(browser);
    const { page } = window;
    await page.goto(service.setupUrl!);
    await fillSetUp(page);
    const port = page.getByLabel('Port of n8n');
    const address = page.getByLabel('Address of n8n');
    expect(await page.getByLabel('On this machine').isChecked()).toBe(true);
    expect(await port.inputValue()).toBe('5678');
    expect(await address.isVisible()).toBe(false);

    await page.getByLabel('In a private network').check();
    expect(await port.isVisible()).toBe(false);
    await address.fill('http://169.254.169.254');
    window.allowErrors(/status of 400/);
    const setUp = page.getByRole('button', { name: 'Set up and show the API key' });
    await setUp.click();
    await page.getByText('It cannot be opened.').waitFor();
    expect(await window.axe()).toEqual([]);
    expect(await address.inputValue()).toBe('http://169.254.169.254');
    await window.screenshot('setup-n8n-refused');
    await page.getByLabel('On this machine').check();
    await page.getByLabel('Password').fill(MEMBER.password);
    await setUp.click();
    await page.getByRole('heading', { name: 'Ready' }).waitFor();

    await page.getByRole('button', { name: 'Go to conversations' }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('On this machine, at port 5678.').waitFor();
    await page.getByLabel('In a private network').check();
    await address.fill('192.168.1.20');
    await save(page);
    await page.getByText('Saved.').waitFor();
    await page.getByText('At http://192.168.1.20:5678.').waitFor();
    expect(await address.inputValue()).toBe('http://192.168.1.20:5678');
    await page.getByLabel('At a public https:// address').check();
    expect(await address.isVisible()).toBe(false);
    await save(page);
    await page.getByText('At a public https:// address.').waitFor();
  });

  it('can be changed without scripts', async () => {
    window = await openWindow(browser, { context: { javaScriptEnabled: false } });
    const { page } = window;
    await page.goto(`${service.url}/settings`);
    await fillSignIn(page, MEMBER);
    await page.getByLabel('On this machine').check();
    await page.getByLabel('Port of n8n').fill('5679');
    await save(page);
    await page.getByText('On this machine, at port 5679.').waitFor();
  });
});
