// How many bytes, after decompression, a browser loads to show a page of the inbox.
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'playwright-core';
import { chatCustomer } from '../helpers/apiClient.ts';
import { team, useTeam } from './team.ts';

const KIB = 1024;
const TEXT =
  'I have a question about an order that has not arrived yet. Could you look where it is?';

describe('the weight of the inbox', () => {
  useTeam();
  let path: string;
  beforeAll(async () => {
    for (let n = 1; n <= 55; n += 1) {
      const customer = await chatCustomer(team.service.url, {
        name: `Katharina Winterbourne ${n}`,
        email: `customer-${n}@example.com`,
      });
      const { conversation_id: id } = await customer.write(TEXT);
      path = `/conversations/${id}`;
    }
  });

  /** Loads a page with an empty cache. @returns the URLs it requested, and their bytes in total */
  async function load(pagePath: string) {
    const signedIn = await team.openSignedIn('/account');
    const { page, context } = await team.open({
      context: { storageState: await signedIn.context.storageState() },
    });
    const requested: string[] = [];
    const sizes: Promise<number>[] = [];
    // Requests of the shared worker and for the icon belong to the context.
    context.on('request', (request) => void requested.push(request.url()));
    const weigh = (response: Response) => {
      // The live stream does not end, and a 204 has no body.
      if (!response.url().includes('/live?') && response.status() !== 204)
        sizes.push(response.body().then(({ byteLength }) => byteLength));
    };
    context.on('response', weigh);
    await page.goto(team.service.url + pagePath);
    // The live stream stays open, so the network is never idle; late requests have a second.
    await page.waitForTimeout(1000);
    context.off('response', weigh);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    return { page, requested, bytes };
  }

  it('is below 150 KiB for the list, and nothing is fetched twice', async () => {
    const { page, requested, bytes } = await load('/conversations');
    process.stdout.write(
      `/conversations: ${(bytes / KIB).toFixed(1)} KiB, ${requested.length} requests\n`,
    );
    expect(await page.locator('.item').count()).toBeGreaterThanOrEqual(16);
    expect(bytes).toBeLessThan(150 * KIB);
    expect(requested).toEqual([...new Set(requested)]);
  });

  it('is below 170 KiB for a conversation, and nothing is fetched twice', async () => {
    const { requested, bytes } = await load(path);
    process.stdout.write(
      `/conversations/…: ${(bytes / KIB).toFixed(1)} KiB, ${requested.length} requests\n`,
    );
    expect(bytes).toBeLessThan(170 * KIB);
    expect(requested).toEqual([...new Set(requested)]);
  });

  it('shows more rows when the reader comes to the end of the first ones', async () => {
    const { page } = await load('/conversations');
    const last = page.locator('.item').nth(15);
    await last.scrollIntoViewIfNeeded();
    await page.locator('.item').nth(49).waitFor();
    await page.getByRole('link', { name: 'Older conversations' }).click();
    await page.getByText('Katharina Winterbourne 1', { exact: true }).waitFor();
  });

  it('shows more rows by a link, without scripts', async () => {
    const { page } = await team.openSignedIn('/conversations', {
      context: { javaScriptEnabled: false },
    });
    await page.getByRole('link', { name: '34 more' }).click();
    expect(await page.locator('.item').count()).toBe(50);
  });
});
