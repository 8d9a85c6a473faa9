import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startTestService, type TestService } from '../helpers/service.ts';
import type { BrowserWindow } from './browser.ts';
import { MEMBER_BEN, addRareContent } from './rareContent.ts';
import { SHOP_ENV, fillWithSamples, lateClock } from './sampleContent.ts';
import { SCREEN_STATES, type ScreenContent, type ScreenState } from './screenStates.ts';
import { signIn, startTeam, type Team } from './team.ts';

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
    [owner, member, stranger] = [await team.openSignedIn(), await team.open(), await team.open()];
    await signIn(member.page, team.service.url, '/conversations', MEMBER_BEN);
    await takeOver(owner.page);
  });
  afterEach(async () => {
    for (const window of [owner, member, stranger])
      await window.page.emulateMedia({ colorScheme: 'light' });
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

  const windowFor = ({ isPublic = false, isMembers = false }: ScreenState): BrowserWindow =>
    isPublic ? stranger : isMembers ? member : owner;

  const SIZES = [
    [1280, 800],
    [1920, 1080],
    [375, 740],
  ] as const;

  /**
   * In three sizes, light and dark: axe finds nothing with all its rules, nothing reaches beyond the
   * edge, with texts of twice the size too, and on a phone all that can be pressed is in reach. At
   * 400 % zoom (WCAG 1.4.10) nothing is lost sideways.
   */
  async function expectFit({ page, axeWithAllRules, overflow, outOfReach }: BrowserWindow) {
    const faults: string[] = [];
    const note = (where: string, found: readonly string[]) =>
      faults.push(...found.map((fault) => `${where}: ${fault}`));
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        note(`${width} px, ${colorScheme}`, await axeWithAllRules());
      }
      note(`${width} px`, await overflow());
    }
    note('375 px', await outOfReach());
    const sizes = await page.context().newCDPSession(page);
    await sizes.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
    note('375 px, texts of 200 %', await overflow());
    await sizes.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } });
    await sizes.detach();
    await page.setViewportSize({ width: 320, height: 256 });
    note('400 % zoom', await overflow());
    note('400 % zoom', await outOfReach());
    expect(faults).toEqual([]);
  }

  it.each(SCREEN_STATES.map((state) => [state.name, state] as const))('%s', async (_, state) => {
    const { path, prepare, isRefusal = false } = state;
    const window = windowFor(state);
    if (isRefusal) window.allowErrors(/40\d/);
    await window.page.setViewportSize({ width: 1440, height: 900 });
    await window.page.goto(team.service.url + path(content));
    await prepare?.(window.page);
    await expectFit(window);
    expect(window.problems).toEqual([]);
  });

  it('set-up, its form and its key', async () => {
    const window = await team.open();
    await window.page.goto(newService.setupUrl!);
    await expectFit(window);
    await window.page.getByLabel('Workspace name').fill('Harbour Outfitters');
    await window.page.getByLabel('Your name').fill('Ana');
    await window.page.getByLabel('Your email').fill('ana@example.com');
    await window.page.getByLabel('Password').fill('correct horse battery');
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
