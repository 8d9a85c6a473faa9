// The overview can be read at each width: the words of its charts, and its tables on a phone.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { SHOP_ENV, fillWithSamples, lateClock } from './sampleContent.ts';
import { team, useTeam } from './team.ts';

const MIN_PX = 11;

describe('the overview', () => {
  const clock = lateClock();
  useTeam({ clock, env: SHOP_ENV });
  beforeAll(() => fillWithSamples(team, clock));

  it('has words in its charts that are large enough and not cut off at each width', async () => {
    const { page } = await team.openSignedIn('/overview');
    for (const width of [320, 375, 768, 1024, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const words = await page.evaluate(wordsOfCharts);
      expect(words.length).toBeGreaterThan(20);
      const unreadable = words.filter(({ px, isCut }) => px < MIN_PX || isCut);
      expect([width, unreadable]).toEqual([width, []]);
    }
  });

  it('shows every column of the deliveries on a phone, and no table scrolls', async () => {
    const { page, overflow } = await team.openSignedIn('/overview', { width: 375, height: 740 });
    const table = page.getByRole('group', { name: 'Deliveries by subscription' });
    expect(await overflow()).toEqual([]);
    expect(await page.locator('.chart .rows').evaluateAll(boxesThatScroll)).toEqual([]);
    for (const heading of ['Attempts', 'Error rate', 'Not delivered', 'Median', '90th percentile'])
      expect(await table.locator(`td[data-label="${heading}"]`).first().isVisible()).toBe(true);
  });
});

/** Runs in the page: each text of a drawing, with its size on the screen and whether it is cut off. */
function wordsOfCharts() {
  return [...document.querySelectorAll<SVGTextElement>('.drawing text')].map((text) => {
    const word = text.getBoundingClientRect();
    const card = text.closest('.chart')!.getBoundingClientRect();
    return {
      words: text.textContent,
      px: parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM()!.a,
      isCut: word.left < card.left || word.right > card.right,
    };
  });
}

/** Runs in the page: the boxes whose content is wider than they are. */
const boxesThatScroll = (boxes: Element[]) =>
  boxes
    .filter((box) => box.scrollWidth > box.clientWidth)
    .map((box) => box.outerHTML.slice(0, 200));
