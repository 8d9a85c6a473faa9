// Pictures of the screens for the documents:
// SCREENSHOTS=docs/screenshots npm run test:browser -- screenshots
import { beforeAll, describe, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { signedInBrowser } from '../helpers/browserless.ts';
import { openWindow } from './browser.ts';
import { SHOP_ENV, fillWithSamples, lateClock, type SampleContent } from './sampleContent.ts';
import { testTool, tryAgent } from './screenStates.ts';
import { team, useTeam } from './team.ts';

interface Picture {
  readonly name: string;
  path(content: SampleContent): string;
  prepare?(page: Page, content: SampleContent): Promise<unknown>;
  readonly isPublic?: boolean;
}

const SIZE = { width: 1440, height: 900 };

const PICTURES: readonly Picture[] = [
  { name: 'conversations', path: ({ approval }) => `/conversations/${approval}` },
  { name: 'overview', path: () => '/overview', prepare: dismissFirstSteps },
  { name: 'tools', path: () => '/tools' },
  { name: 'tool', path: ({ liveTool }) => `/tools/${liveTool}`, prepare: testTool },
  { name: 'tool-form', path: () => '/tools/new' },
  { name: 'agent', path: () => '/agent', prepare: tryAgent },
  { name: 'payment-link', path: ({ paying }) => `/conversations/${paying}/payment-link` },
  { name: 'keys', path: () => '/keys' },
  {
    name: 'subscription',
    path: ({ failing }) => `/keys/subscriptions/${failing}`,
    prepare: (page) =>
      page.getByRole('region', { name: 'Deliveries' }).locator('summary').first().click(),
  },
  {
    name: 'delivery',
    path: ({ failing }) => `/keys/subscriptions/${failing}`,
    prepare: openDelivery,
  },
  { name: 'chat', path: () => '/chat', isPublic: true, prepare: comeBack },
];

async function dismissFirstSteps(page: Page) {
  const dismiss = page.getByRole('button', { name: 'Dismiss these steps' });
  if ((await dismiss.count()) === 0) return;
  await dismiss.click();
  await dismiss.waitFor({ state: 'detached' });
  await page.goto(page.url().replace(/\?.*/, '')); // drops the notice
}

async function openDelivery(page: Page) {
  await page.getByRole('region', { name: 'Deliveries' }).locator('summary').first().click();
  await page
    .getByRole('link', { name: /payload and headers/i })
    .first()
    .click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** The customer of the samples comes back to their conversation, in this browser. */
async function comeBack(page: Page, { customer }: SampleContent) {
  await page.evaluate((token) => {
    const { workspace } = document.querySelector<HTMLElement>('#chat')!.dataset;
    localStorage.setItem(`conversation-service:chat:${workspace}:token`, token);
  }, customer.token);
  await page.reload();
  await page.getByText('Great, thank you!').waitFor();
}

const describeWhenWanted = process.env.SCREENSHOTS === undefined ? describe.skip : describe;

describeWhenWanted('the pictures of the screens', () => {
  const clock = lateClock();
  useTeam({ clock, env: SHOP_ENV });
  let content: SampleContent;
  beforeAll(async () => {
    content = await fillWithSamples(team, clock);
    await takeOver();
    const ana = await signedInBrowser(team.service.url);
    for (const name of ['n8n', 'Website']) await ana.post('/keys', { name });
  });

  async function takeOver() {
    const { page } = await team.openSignedIn(`/conversations/${content.mine}`);
    await page
      .getByLabel('Your reply')
      .fill(
        'Hello Jonas, sorry to hear that. The seam is covered for two years: could you send me a photo of it?',
      );
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('ana took over').waitFor();
    await team.closeWindows();
  }

  it.each(['light', 'dark'])('are taken in %s mode', async (mode) => {
    const member = await team.openSignedIn('/conversations', { dark: mode === 'dark' });
    for (const { name, path, prepare, isPublic } of PICTURES) {
      const window = isPublic ? await openWindow(team.browser, { dark: mode === 'dark' }) : member;
      await window.page.setViewportSize(SIZE);
      await window.page.goto(team.service.url + path(content));
      await prepare?.(window.page, content);
      await window.screenshot(`${name}-${mode}`);
      if (isPublic) await window.close();
    }
  });
});
