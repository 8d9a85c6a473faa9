// What surrounds the content of the team's pages: the navigation and the notices.
import { describe, expect, it } from '@jest/globals';
import { team, useTeam } from './team.ts';

describe('the shell', () => {
  useTeam();

  it('keeps the navigation in its place on every page', async () => {
    const { page } = await team.openSignedIn('/conversations', { width: 1280, height: 800 });
    const navigation = page.getByRole('navigation', { name: 'Main' });
    const boxes = new Set<string>();
    for (const name of [
      'Overview',
      'Decisions',
      'Agent',
      'Tools',
      'Keys and subscriptions',
      'Channels',
      'Payments',
      'Team',
      'Settings',
      'Conversations',
    ]) {
      await navigation.getByRole('link', { name }).click();
      await navigation.locator('[aria-current]', { hasText: name }).waitFor();
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      boxes.add(JSON.stringify(await navigation.boundingBox()));
    }
    expect([...boxes]).toHaveLength(1);
  });

  it('begins each page at the same height', async () => {
    const { page } = await team.openSignedIn('/overview', { width: 1280, height: 800 });
    const tops = new Set<number>();
    for (const path of ['/overview', '/agent', '/channels', '/team', '/settings']) {
      await page.goto(team.service.url + path);
      tops.add((await page.getByRole('heading', { level: 1 }).boundingBox())!.y);
    }
    expect([...tops]).toHaveLength(1);
  });

  it('keeps an empty chart low', async () => {
    const { page } = await team.openSignedIn('/overview', { width: 1280, height: 800 });
    const charts = await page.locator('.chart.empty').all();
    expect(charts.length).toBeGreaterThan(0);
    for (const chart of charts) expect((await chart.boundingBox())!.height).toBeLessThan(160);
  });

  it.each([true, false])('has a menu on a phone (scripts: %s)', async (javaScriptEnabled) => {
    const { page } = await team.openSignedIn('/conversations', {
      width: 375,
      height: 700,
      context: { javaScriptEnabled },
    });
    const tools = page.getByRole('link', { name: 'Tools', exact: true });
    expect(await tools.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await tools.click();
    await page.getByRole('heading', { name: 'Tools', level: 1 }).waitFor();
  });

  it('shows a notice without moving the page, and not again after a reload', async () => {
    const { page } = await team.openSignedIn('/team', { width: 1280, height: 800 });
    const heading = page.getByRole('heading', { name: 'Team', level: 1 });
    const before = await heading.boundingBox();
    await page.goto(`${team.service.url}/team?notice=payment-refused`);
    const notice = page.getByRole('status').getByText('The provider refused');
    await notice.waitFor();
    expect(await heading.boundingBox()).toEqual(before);
    await page.waitForURL(`${team.service.url}/team`);
    await page.reload();
    await heading.waitFor();
    expect(await notice.count()).toBe(0);
  });

  it('dismisses a notice without leaving the page', async () => {
    const { page } = await team.openSignedIn('/team');
    await page.goto(`${team.service.url}/team?notice=payment-refused`);
    await page.getByLabel('Who is it for?').fill('Ben');
    await page.getByRole('status').getByLabel('Dismiss').click();
    expect(await page.getByText('The provider refused').count()).toBe(0);
    expect(await page.getByLabel('Who is it for?').inputValue()).toBe('Ben');
  });
});
