// The layout of the inbox in small and large windows, and without scripts.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startConversation } from './customers.ts';
import { team, useTeam } from './team.ts';

describe('the inbox', () => {
  useTeam();
  let path: string;

  beforeAll(async () => {
    const conversation = await startConversation('Zoe', 'The first of many messages.');
    for (let n = 2; n <= 40; n += 1) await conversation.customer.write(`Message ${n}.`);
    ({ path } = conversation);
  });

  it.each([
    ['at 400 % zoom', 320, 256],
    ['on a phone held sideways', 844, 390],
  ])('%s is read by scrolling the page', async (_, width, height) => {
    const { page, overflow } = await team.openSignedIn(path);
    await page.setViewportSize({ width, height });
    const messages = page.getByRole('region', { name: 'Messages' });
    const newest = messages.getByText('Message 40.');
    await page.getByRole('link', { name: 'Newest message' }).click();
    await newest.scrollIntoViewIfNeeded();
    const { height: fullHeight } = (await messages.boundingBox())!;
    expect(fullHeight).toBeGreaterThan(3 * height);
    expect(await overflow()).toEqual([]);
  });

  it.each([
    [1280, 800],
    [1280, 720],
  ])('leaves most of a window of %i × %i to the messages', async (width, height) => {
    const { page } = await team.openSignedIn(path, { width, height });
    const messages = (await page.getByRole('region', { name: 'Messages' }).boundingBox())!;
    expect(messages.height).toBeGreaterThan(0.6 * height);
  });

  it('leaves most of a phone to the messages, with the actions in a menu', async () => {
    const { page } = await team.openSignedIn(path);
    await page.setViewportSize({ width: 375, height: 740 });
    const { height } = (await page.getByRole('region', { name: 'Messages' }).boundingBox())!;
    expect(height).toBeGreaterThan(0.6 * 740);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('button', { name: 'Payment link…' }).click();
    await page.waitForURL(/\/payment-link$/);
  });

  it('without scripts opens a thread at its newest message', async () => {
    const { page } = await team.openSignedIn(path, { context: { javaScriptEnabled: false } });
    const isInView = async (text: string) => {
      const box = (await page.getByRole('region', { name: 'Messages' }).boundingBox())!;
      const { y, height } = (await page.getByText(text, { exact: true }).last().boundingBox())!;
      return y >= box.y && y + height <= box.y + box.height;
    };
    expect(await isInView('Message 40.')).toBe(true);
    expect(await isInView('The first of many messages.')).toBe(false);
  });

  it('keeps the place in its list when a conversation is opened, and opens another list at its top', async () => {
    for (let n = 1; n <= 15; n += 1) await startConversation(`Customer ${n}`);
    const { page } = await team.openSignedIn('/conversations?tab=all', {
      width: 1280,
      height: 720,
    });
    const offset = () => page.locator('#items').evaluate((list) => list.scrollTop);
    await page.locator('#items').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    const end = await offset();
    expect(end).toBeGreaterThan(100);
    await page.getByRole('link', { name: /^Zoe/ }).click();
    await page.getByRole('heading', { name: 'Zoe' }).waitFor();
    expect(await offset()).toBe(end);
    await page.locator('#tab-agent').click();
    await page.waitForURL(/tab=agent/);
    await page.locator('#items').getByText('Customer 15').waitFor();
    expect(await offset()).toBe(0);
  });

  it('shows the contact beside the thread where there is room, otherwise folded', async () => {
    const { page } = await team.openSignedIn(path, { width: 1920, height: 1080 });
    const contact = page.getByRole('complementary', { name: 'Contact' });
    const stage = contact.getByRole('combobox', { name: 'Stage' });
    await stage.waitFor();
    expect(await contact.locator('summary').isVisible()).toBe(false);
    const rem = await page.evaluate(() =>
      parseFloat(getComputedStyle(document.documentElement).fontSize),
    );
    const thread = (await page.locator('.thread-items').boundingBox())!;
    expect(thread.width / rem).toBeLessThanOrEqual(48);
    await page.setViewportSize({ width: 375, height: 740 });
    expect(await stage.isVisible()).toBe(false);
    await contact.getByText('Contact and history').click();
    await stage.waitFor();
  });
});
