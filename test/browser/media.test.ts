// What a reader's settings and network ask for: contrast, forced colours, less motion, patience.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { chatCustomer } from '../helpers/apiClient.ts';
import { startTeam, type Team } from './team.ts';

describe('a reader’s settings', () => {
  let team: Team;
  beforeAll(async () => void (team = await startTeam()));
  afterEach(() => team.closeWindows());
  afterAll(() => team?.close());

  /** The contrast of two tokens, as the page computes them. */
  const contrast = (page: Page, one: string, other: string) =>
    page.evaluate(
      (names) => {
        const [a, b] = names.map((name) => {
          const probe = document.body.appendChild(document.createElement('i'));
          probe.style.color = `var(--color-${name})`;
          const [red, green, blue] = getComputedStyle(probe)
            .color.match(/[\d.]+/g)!
            .map(Number);
          probe.remove();
          const light = [red!, green!, blue!].map((each) =>
            each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4,
          );
          return 0.2126 * light[0]! + 0.7152 * light[1]! + 0.0722 * light[2]!;
        });
        return (Math.max(a!, b!) + 0.05) / (Math.min(a!, b!) + 0.05);
      },
      [one, other],
    );

  it.each([false, true])('colours have their contrast, in the dark: %s', async (dark) => {
    const { page } = await team.openSignedIn('/team', { dark });
    const texts = [
      ['text', 'surface'],
      ['muted', 'surface'],
      ['muted', 'raised'],
      ['muted', 'sidebar'],
      ['text', 'hover'],
      ...['accent', 'danger', 'warning', 'success'].flatMap((role) => [
        [role, 'surface'],
        [`${role}-on`, `${role}-soft`],
      ]),
      ['accent-contrast', 'accent'],
    ] as const;
    for (const [text, background] of texts)
      expect([text, background, (await contrast(page, text!, background!)) >= 4.5]).toEqual([
        text,
        background,
        true,
      ]);
    expect(await contrast(page, 'border-strong', 'surface')).toBeGreaterThanOrEqual(3);
    const strong = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--color-border-strong)';
      return getComputedStyle(probe).color;
    });
    for (const path of ['/team', '/tools/new', '/settings', '/conversations']) {
      await page.goto(team.service.url + path);
      const borders = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            'main :is(input:not([type=hidden], [type=radio], [type=checkbox]), select, textarea)',
          ),
        ].map((field) => getComputedStyle(field).borderTopColor),
      );
      expect([path, ...new Set(borders)]).toEqual([path, strong]);
    }
  });

  it.each([false, true])('buttons have borders that are seen, in the dark: %s', async (dark) => {
    const { page } = await team.openSignedIn('/team', { dark });
    let seen = '';
    for (const path of [
      '/team',
      '/tools/new',
      '/settings',
      '/keys',
      '/account',
      '/conversations',
    ]) {
      await page.goto(team.service.url + path);
      const buttons = await page.evaluate(borderContrasts);
      expect([path, buttons.filter(({ contrast }) => contrast < 3)]).toEqual([path, []]);
      seen += buttons.map(({ classes }) => ` ${classes} `).join('');
    }
    for (const kind of ['outline', 'danger', 'open-form']) expect(seen).toContain(` ${kind} `);
  });

  it('forced colours leave marks, the chosen mode and the place visible', async () => {
    const customer = await chatCustomer(team.service.url, { name: 'Clara' });
    const { conversation_id: id } = await customer.write('Hello');
    const { page, overflow } = await team.openSignedIn(`/conversations/${id}`, {
      context: { forcedColors: 'active' },
    });
    const styleOf = (selector: string, property: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((each, name) => getComputedStyle(each).getPropertyValue(name), property);
    expect(await styleOf('nav [aria-current]', 'outline-style')).toBe('solid');
    expect(await styleOf('.modes label:has(:checked)', 'outline-style')).toBe('solid');
    expect(await styleOf('.avatar', 'border-top-style')).toBe('solid');
    expect(await overflow()).toEqual([]);
  });

  it('less motion: nothing moves, not even the progress bar', async () => {
    const { page } = await team.openSignedIn('/conversations');
    await page.evaluate(() => {
      for (const name of ['progress', 'toast toast-success', 'icon'])
        document.body.appendChild(document.createElement('div')).className = name;
    });
    const moving = () =>
      page.evaluate(
        () =>
          [...document.querySelectorAll('*')].filter((each) => {
            const { animationName, animationDuration, transitionDuration } = getComputedStyle(each);
            const seconds = (text: string) => Math.max(...text.split(',').map(parseFloat));
            const isAnimated = animationName !== 'none' && seconds(animationDuration) > 0.001;
            return isAnimated || seconds(transitionDuration) > 0.001;
          }).length,
      );
    expect(await moving()).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving()).toBe(0);
  });

  it('a slow network shows a progress bar until the page is there', async () => {
    const { page } = await team.openSignedIn('/settings');
    const bar = page.getByRole('progressbar', { name: 'Loading' });
    await page.route('**/team', async (route) => {
      await bar.waitFor();
      await route.continue();
    });
    await page.getByRole('link', { name: 'Team', exact: true }).click();
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
    await bar.waitFor({ state: 'detached' });
  });

  it('a form that a live part has replaced while it was sent leaves no progress bar behind', async () => {
    const { page } = await team.openSignedIn('/settings/canned-replies');
    await page.route('**/settings/canned-replies', async (route) => {
      await page.getByLabel('Shortcut').evaluate((field: HTMLInputElement) => field.form!.remove());
      await route.continue();
    });
    await page.getByLabel('Name').fill('Good bye');
    await page.getByLabel('Shortcut').fill('bye');
    await page.getByRole('textbox', { name: 'Text' }).fill('Good bye!');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('/bye', { exact: true }).waitFor();
    // The bar has a patience of 400 ms.
    await page.waitForTimeout(500);
    expect(await page.getByRole('progressbar', { name: 'Loading' }).count()).toBe(0);
  });

  it('a form that a live part has replaced while it was sent says that it was not', async () => {
    const { page, allowErrors } = await team.openSignedIn('/settings/canned-replies');
    allowErrors(/503/);
    await page.route('**/settings/canned-replies', async (route) => {
      await page.getByLabel('Shortcut').evaluate((field: HTMLInputElement) => {
        field.form!.replaceWith(field.form!.cloneNode(true));
      });
      await route.fulfill({ status: 503, contentType: 'text/html', body: 'Away' });
    });
    await page.getByLabel('Name').fill('Good night');
    await page.getByLabel('Shortcut').fill('night');
    await page.getByRole('textbox', { name: 'Text' }).fill('Good night!');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('Not sent. The service failed.').waitFor();
  });
});

/** Runs in the page: the contrast of each button's border with what the button lies on. */
function borderContrasts(): { classes: string; contrast: number }[] {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
  const channels = (colour: string) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const isSeen = (colour: string) => channels(colour)[3]! > 0;
  const luminance = (colour: string) => {
    const [red, green, blue] = channels(colour)
      .map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const groundOf = (element: Element | null): string => {
    if (element === null) return 'Canvas';
    const { backgroundColor } = getComputedStyle(element);
    return isSeen(backgroundColor) ? backgroundColor : groundOf(element.parentElement);
  };
  const buttons = 'button, a[role=button], summary[role=button], summary.open-form';
  return [...document.querySelectorAll(buttons)].flatMap((each) => {
    const { borderTopWidth, borderTopColor } = getComputedStyle(each);
    if (borderTopWidth === '0px' || !isSeen(borderTopColor) || !each.checkVisibility()) return [];
    const [light, dark] = [borderTopColor, groundOf(each.parentElement)]
      .map(luminance)
      .sort((a, b) => b - a);
    return { classes: each.className, contrast: (light! + 0.05) / (dark! + 0.05) };
  });
}
