// What a reader's settings and network need: contrast, forced colours, less motion, progress.
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startConversation } from './customers.ts';
import { team, useTeam } from './team.ts';

describe('a reader’s settings', () => {
  useTeam();

  /** The colour of a token, as the page computes it: `rgb(1, 2, 3)`. */
  const colourOf = (page: Page, token: string) =>
    page.evaluate((name) => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = `var(--color-${name})`;
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    }, token);
  const contrastOfTokens = async (page: Page, one: string, other: string) => {
    const rgbOf = async (token: string) =>
      (await colourOf(page, token)).match(/[\d.]+/g)!.map(Number);
    return contrastOf(await rgbOf(one), await rgbOf(other));
  };

  it.each(['light', 'dark'])('colours have enough contrast in %s mode', async (mode) => {
    const { page } = await team.openSignedIn('/team', { dark: mode === 'dark' });
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
      expect([text, background, (await contrastOfTokens(page, text!, background!)) >= 4.5]).toEqual(
        [text, background, true],
      );
    expect(await contrastOfTokens(page, 'border-strong', 'surface')).toBeGreaterThanOrEqual(3);
    const strongBorder = await colourOf(page, 'border-strong');
    for (const path of ['/team', '/tools/new', '/settings', '/conversations']) {
      await page.goto(team.service.url + path);
      const borders = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            'main :is(input:not([type=hidden], [type=radio], [type=checkbox]), select, textarea)',
          ),
        ].map((field) => getComputedStyle(field).borderTopColor),
      );
      expect([path, ...new Set(borders)]).toEqual([path, strongBorder]);
    }
  });

  it.each(['light', 'dark'])('buttons have visible borders in %s mode', async (mode) => {
    const { page } = await team.openSignedIn('/team', { dark: mode === 'dark' });
    const classes = new Set<string>();
    for (const path of [
      '/team',
      '/tools/new',
      '/settings',
      '/keys',
      '/account',
      '/conversations',
    ]) {
      await page.goto(team.service.url + path);
      const buttons = await page.evaluate(buttonBorders);
      const faint = buttons.filter(({ border, ground }) => contrastOf(border, ground) < 3);
      expect([path, faint]).toEqual([path, []]);
      for (const { className } of buttons)
        for (const each of className.split(' ')) classes.add(each);
    }
    expect([...classes]).toEqual(expect.arrayContaining(['outline', 'danger', 'open-form']));
  });

  it('forced colours leave the current page, the chosen mode and the avatars visible', async () => {
    const { path } = await startConversation('Clara');
    const { page, overflow } = await team.openSignedIn(path, {
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

  it('with less motion nothing moves, not even the progress bar', async () => {
    const { page } = await team.openSignedIn('/conversations');
    await page.evaluate(() => {
      for (const name of ['progress', 'toast toast-success', 'icon'])
        document.body.appendChild(document.createElement('div')).className = name;
    });
    const countMoving = () =>
      page.evaluate(
        () =>
          [...document.querySelectorAll('*')].filter((each) => {
            const { animationName, animationDuration, transitionDuration } = getComputedStyle(each);
            const seconds = (text: string) => Math.max(...text.split(',').map(parseFloat));
            const isAnimated = animationName !== 'none' && seconds(animationDuration) > 0.001;
            return isAnimated || seconds(transitionDuration) > 0.001;
          }).length,
      );
    expect(await countMoving()).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await countMoving()).toBe(0);
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

  it('a form that is removed while it is sent leaves no progress bar behind', async () => {
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
    // The bar appears after 400 ms.
    await page.waitForTimeout(500);
    expect(await page.getByRole('progressbar', { name: 'Loading' }).count()).toBe(0);
  });

  it('a form that is replaced while it is sent tells that it was not sent', async () => {
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

type Rgb = readonly number[];

/** The contrast of two colours, by WCAG 2. */
function contrastOf(one: Rgb, other: Rgb): number {
  const [lighter, darker] = [one, other].map(luminanceOf).sort((a, b) => b - a);
  return (lighter! + 0.05) / (darker! + 0.05);
}

function luminanceOf(rgb: Rgb): number {
  const [red, green, blue] = rgb
    .map((channel) => channel / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Runs in the page: each visible border of a button, and the ground that the button lies on. */
function buttonBorders(): { className: string; border: number[]; ground: number[] }[] {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
  const channels = (colour: string) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const isSeen = (colour: string) => channels(colour)[3]! > 0;
  const groundOf = (element: Element | null): string => {
    if (element === null) return 'Canvas';
    const { backgroundColor } = getComputedStyle(element);
    return isSeen(backgroundColor) ? backgroundColor : groundOf(element.parentElement);
  };
  const buttons = 'button, a[role=button], summary[role=button], summary.open-form';
  return [...document.querySelectorAll(buttons)].flatMap((each) => {
    const { borderTopWidth, borderTopColor } = getComputedStyle(each);
    if (borderTopWidth === '0px' || !isSeen(borderTopColor) || !each.checkVisibility()) return [];
    return {
      className: each.className,
      border: channels(borderTopColor),
      ground: channels(groundOf(each.parentElement)),
    };
  });
}
