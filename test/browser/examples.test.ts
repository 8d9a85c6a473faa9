import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { LAN_NAME } from './browser.ts';
import { signIn, team, useTeam } from './team.ts';

const example = readFileSync(
  new URL('../../examples/workflows/find-order-tool.json', import.meta.url),
  'utf8',
);
const { name: title } = JSON.parse(example) as { name: string };

describe('the example workflows', () => {
  useTeam();

  const copyButton = (page: Page) =>
    page.getByRole('button', { name: `Copy the workflow “${title}”` });
  const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
  const withClipboard = { permissions: ['clipboard-read', 'clipboard-write'] };
  /** A page that may read the clipboard of all windows, after it has overwritten it. */
  const openReader = async () => {
    const { page } = await team.openSignedIn('/keys', { context: withClipboard });
    await page.evaluate(() => navigator.clipboard.writeText('something else'));
    return page;
  };

  it('a newcomer finds them from the API keys, and copies one by keyboard, also twice in a row', async () => {
    const { page } = await team.openSignedIn('/keys', { context: withClipboard });
    await page.getByRole('link', { name: 'example workflow for n8n' }).press('Enter');
    await page.getByRole('heading', { name: title }).waitFor();
    await copyButton(page).press('Enter');
    await page.getByText('Copied').waitFor();
    await copyButton(page).press('Enter');
    expect(await clipboard(page)).toBe(example);
    await page.getByText('Copied').waitFor({ state: 'hidden' });
  });

  it('copies over http in a local network, and leaves the JSON selected', async () => {
    const reader = await openReader();
    const window = await team.open();
    window.allowErrors(/Cross-Origin-Opener-Policy header has been ignored/);
    const { page } = window;
    const url = team.service.url.replace('127.0.0.1', LAN_NAME);
    await signIn(page, url, '/examples');
    expect(await page.evaluate(() => 'clipboard' in navigator)).toBe(false);
    await copyButton(page).click();
    await page.getByText('Copied').waitFor();
    expect(await clipboard(reader)).toBe(example);
    expect(await page.evaluate(() => getSelection()!.toString())).toBe(example);
  });

  it('copies by a selection when the browser does not allow the clipboard', async () => {
    const reader = await openReader();
    const { page, context } = await team.openSignedIn('/examples');
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send('Target.getTargetInfo');
    await session.send('Browser.setPermission', {
      permission: { name: 'clipboard-write' },
      setting: 'denied',
      browserContextId: targetInfo.browserContextId,
    });
    const isRefused = () =>
      navigator.clipboard.writeText('x').then(
        () => false,
        () => true,
      );
    expect(await page.evaluate(isRefused)).toBe(true);
    await copyButton(page).click();
    await page.getByText('Copied').waitFor();
    expect(await clipboard(reader)).toBe(example);
    expect(await page.evaluate(() => getSelection()!.toString())).toBe(example);
  });

  it('can be read and downloaded without JavaScript', async () => {
    const { page } = await team.openSignedIn('/examples', {
      context: { javaScriptEnabled: false },
    });
    const article = page.getByRole('article', { name: title });
    await article.getByText('Show the JSON').click();
    expect(await article.getByRole('textbox').inputValue()).toBe(example);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      article.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('find-order-tool.json');
    expect(readFileSync(await download.path(), 'utf8')).toBe(example);
  });
});
