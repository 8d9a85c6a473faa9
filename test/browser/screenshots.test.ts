// Pictures of the screens for the README: SCREENSHOTS=docs/screenshots npm run test:browser --
// screenshots
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { signedInBrowser } from '../helpers/browserless.ts';
import { openWindow } from './browser.ts';
import { SHOP_ENV, fillWithSamples, lateClock, type SampleContent } from './sampleContent.ts';
import { invite, testTool, tryAgent } from './screenStates.ts';
import { startTeam, type Team } from './team.ts';

interface Picture {
  readonly name: string;
  path(content: SampleContent): string;
  prepare?(page: Page, content: SampleContent): Promise<unknown>;
  readonly isPublic?: boolean;
  /** On a phone as well. */
  readonly isNarrow?: boolean;
}

const PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: () => '/sign-in', isPublic: true },
  { name: 'conversations', path: ({ approval }) => `/conversations/${approval}`, isNarrow: true },
  { name: 'tools', path: () => '/tools' },
  { name: 'tool', path: ({ liveTool }) => `/tools/${liveTool}`, prepare: testTool },
  { name: 'tool-form', path: () => '/tools/new' },
  { name: 'agent', path: () => '/agent', prepare: tryAgent },
  { name: 'channels', path: () => '/channels' },
  { name: 'channel', path: ({ channel }) => `/channels/${channel}` },
  { name: 'payment-link', path: ({ paying }) => `/conversations/${paying}/payment-link` },
  { name: 'payments', path: () => '/payments' },
  { name: 'keys', path: () => '/keys' },
  {
    name: 'subscription',
    path: ({ failing }) => `/keys/subscriptions/${failing}`,
    prepare: (page) =>
      page.getByRole('region', { name: 'Deliveries' }).locator('summary').first().click(),
  },
  { name: 'team', path: () => '/team', prepare: inviteOnce },
  { name: 'chat', path: () => '/chat', isPublic: true, isNarrow: true, prepare: comeBack },
];

async function inviteOnce(page: Page) {
  const revoke = page.getByRole('button', { name: /^Revoke the invitation/ });
  if ((await revoke.count()) > 0) await revoke.click();
  await invite(page);
}

/** The customer whose conversation is stored comes back to it, in this browser. */
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
  let team: Team;
  let content: SampleContent;
  beforeAll(async () => {
    const clock = lateClock();
    team = await startTeam({ clock, env: SHOP_ENV });
    content = await fillWithSamples(team, clock);
    await takeOver();
    const ana = await signedInBrowser(team.service.url);
    for (const name of ['n8n', 'Website']) await ana.post('/keys', { name });
  });
  afterAll(() => team?.close());

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

  it.each(['light', 'dark'] as const)('in %s', async (scheme) => {
    const [wide, narrow] = [
      { width: 1440, height: 900 },
      { width: 360, height: 740 },
    ];
    const sizes = PICTURES.flatMap((picture) => [
      { picture, size: wide, suffix: '' },
      ...(picture.isNarrow ? [{ picture, size: narrow, suffix: '-phone' }] : []),
    ]);
    const member = await team.openSignedIn('/conversations', { dark: scheme === 'dark' });
    for (const {
      picture: { name, path, prepare, isPublic },
      size,
      suffix,
    } of sizes) {
      const window = isPublic
        ? await openWindow(team.browser, { dark: scheme === 'dark' })
        : member;
      await window.page.setViewportSize(size);
      await window.page.goto(team.service.url + path(content));
      await prepare?.(window.page, content);
      await window.screenshot(`${name}${suffix}-${scheme}`);
      if (isPublic) await window.close();
    }
    await team.closeWindows();
  });
});
