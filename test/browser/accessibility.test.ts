import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startTestService, type TestService } from '../helpers/service.ts';
import type { BrowserWindow } from './browser.ts';
import { addRareContent } from './rareContent.ts';
import { SHOP_ENV, fillWithSamples, lateClock } from './sampleContent.ts';
import { SCREEN_STATES, type ScreenContent, type ScreenState } from './screenStates.ts';
import { BEN, fillSetUp, startTeam, type Team } from './team.ts';

describe('every screen in every state', () => {
  let team: Team;
  let content: ScreenContent;
  let newService: TestService;
  let owner: BrowserWindow;
  let member: BrowserWindow;
  let stranger: BrowserWindow;

  beforeAll(async () => {
    const clock = lateClock();
    [team, newService] = await Promise.all([
      startTeam({ clock, env: SHOP_ENV }),
      startTestService({ env: { BOOTSTRAP_API_KEY: undefined, BOOTSTRAP_WORKSPACE: undefined } }),
    ]);
    const samples = await fillWithSamples(team, clock);
    content = { ...samples, ...(await addRareContent(team.service)) };
    [owner, member, stranger] = await Promise.all([
      openFor({}),
      openFor({ isForMember: true }),
      openFor({ isPublic: true }),
    ]);
    await takeOver(owner.page);
  });
  afterAll(async () => {
    await team?.close();
    await newService?.stop();
  });

  async function takeOver(page: Page) {
    await page.goto(`${team.service.url}/conversations/${content.mine}`);
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('ana took over').waitFor();
  }

  function openFor({ isPublic, isForMember }: Pick<ScreenState, 'isPublic' | 'isForMember'>) {
    if (isPublic) return team.open();
    return team.openSignedIn('/conversations', {}, isForMember ? BEN : undefined);
  }
  const windowFor = ({ isPublic = false, isForMember = false }: ScreenState): BrowserWindow =>
    isPublic ? stranger : isForMember ? member : owner;

  const SIZES = [
    [1280, 800],
    [1920, 1080],
    [375, 740],
  ] as const;

  /**
   * axe finds nothing with all its rules in light mode, and nothing in the colours of dark mode, which
   * differs in nothing else. It checks the largest and the smallest size, or the middle one alone
   * where a page is like another.
   * Nothing reaches beyond the edge in any size, on a phone with texts of 200 %, and at 400 % zoom
   * (WCAG 1.4.10). On a phone and at 400 % zoom, every control is in reach.
   */
  async function expectFit(
    { page, axeWithAllRules, axeOfColours, overflow, outOfReach }: BrowserWindow,
    { isLikeAnother = false }: { isLikeAnother?: boolean } = {},
  ) {
    const faults: string[] = [];
    const note = (where: string, found: readonly string[]) =>
      faults.push(...found.map((fault) => `${where}: ${fault}`));
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      // axe takes a button that is half under the page's head for one that is too small.
      await page.evaluate(() => scrollTo(0, 0));
      note(`${width} px`, await overflow());
      const isMiddle = width === 1280;
      if (isMiddle !== isLikeAnother) continue;
      note(`${width} px, light`, await axeWithAllRules());
      await page.emulateMedia({ colorScheme: 'dark' });
      note(`${width} px, dark`, await axeOfColours());
      await page.emulateMedia({ colorScheme: 'light' });
    }
    note('375 px', await outOfReach());
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
    note('375 px, texts of 200 %', await overflow());
    await devTools.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } });
    await devTools.detach();
    await page.setViewportSize({ width: 320, height: 256 });
    note('400 % zoom', await overflow());
    note('400 % zoom', await outOfReach());
    expect(faults).toEqual([]);
  }

  it.each(SCREEN_STATES.map((state) => [state.name, state] as const))('%s', async (_, state) => {
    const { path, prepare, isRefusal = false } = state;
    // A refusal has a window of its own, where no other state may have an error.
    const window = isRefusal ? await openFor(state) : windowFor(state);
    if (isRefusal) window.allowErrors(/40\d/);
    await window.page.setViewportSize({ width: 1440, height: 900 });
    await window.page.goto(team.service.url + path(content));
    await prepare?.(window.page);
    // A member sees what an owner sees, with fewer controls.
    await expectFit(window, { isLikeAnother: state.isForMember });
    expect(window.problems).toEqual([]);
    if (isRefusal) await window.close();
  });

  it('set-up: its form, its key, and the pages of an empty workspace', async () => {
    const window = await team.open();
    await window.page.goto(newService.setupUrl!);
    await expectFit(window);
    await fillSetUp(window.page);
    await window.page.getByRole('button', { name: 'Set up and show the API key' }).click();
    await window.page.getByRole('heading', { name: 'Ready' }).waitFor();
    await expectFit(window);
    await window.page.getByRole('button', { name: 'Go to conversations' }).click();
    await window.page.getByText('No conversations yet.').waitFor();
    await expectFit(window);
    for (const path of ['/keys', '/tools']) {
      await window.page.goto(new URL(path, newService.setupUrl!).href);
      await expectFit(window);
    }
    await window.close();
  });
});
