// Every screen in each state that somebody can see.
import type { Page } from 'playwright-core';
import type { RareContent } from './rareContent.ts';
import type { SampleContent } from './sampleContent.ts';

export type ScreenContent = SampleContent & RareContent;

export interface ScreenState {
  readonly name: string;
  /** The path, made of the ids of the content. */
  path(content: ScreenContent): string;
  /** Clicks or fills in what brings the page into this state. */
  prepare?(page: Page): Promise<unknown>;
  /** The route of the page to which `prepare` leads, when it leads to another one. */
  readonly leadsTo?: string;
  /** For somebody who is not signed in. */
  readonly isPublic?: boolean;
  /** For a member who is no owner. */
  readonly isForMember?: boolean;
  /** The service answers with an error, which the browser's console repeats. */
  readonly isRefusal?: boolean;
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

export const SCREEN_STATES: readonly ScreenState[] = [
  { name: 'sign-in', path: () => '/sign-in', isPublic: true },
  {
    name: 'sign-in, refused',
    path: () => '/sign-in',
    isPublic: true,
    isRefusal: true,
    prepare: refuseSignIn,
  },
  { name: 'invitation', path: ({ joinPath }) => joinPath, isPublic: true },
  { name: 'another password', path: ({ resetPath }) => resetPath, isPublic: true },
  { name: 'useless link', path: () => '/join?token=unknown', isPublic: true, isRefusal: true },
  { name: 'overview', path: () => '/overview', prepare: unfold },
  { name: 'overview, 24 hours', path: () => '/overview?range=24h' },
  { name: 'conversations', path: () => '/conversations' },
  { name: 'conversations, none', path: () => '/conversations?tab=mine' },
  { name: 'conversations, nothing found', path: () => '/conversations?q=nobody' },
  { name: 'conversations, found by what was said', path: () => '/conversations?q=waterproof' },
  { name: 'conversations, approvals', path: () => '/conversations?tab=approvals' },
  {
    name: 'conversation with the agent',
    path: ({ answered }) => `/conversations/${answered}`,
    prepare: unfold,
  },
  { name: 'conversation with an approval', path: ({ approval }) => `/conversations/${approval}` },
  { name: 'conversation that waits', path: ({ waiting }) => `/conversations/${waiting}` },
  { name: 'conversation of mine', path: ({ mine }) => `/conversations/${mine}` },
  { name: 'conversation, closing', path: ({ mine }) => `/conversations/${mine}/close` },
  { name: 'conversation, closed', path: ({ closed }) => `/conversations/${closed}` },
  { name: 'conversation on WhatsApp', path: ({ onWhatsApp }) => `/conversations/${onWhatsApp}` },
  {
    name: 'conversation outside its window',
    path: ({ outsideWindow }) => `/conversations/${outsideWindow}`,
  },
  {
    name: 'contact, with the form that forgets it',
    path: ({ mine }) => `/conversations/${mine}/contact`,
  },
  {
    name: 'contact, forgetting not confirmed',
    path: ({ mine }) => `/conversations/${mine}/contact`,
    prepare: forgetUnconfirmed,
  },
  { name: 'contact, forgotten', path: ({ forgotten }) => `/contacts/${forgotten}/forgotten` },
  { name: 'waiting', path: () => '/waiting', prepare: unfold },
  { name: 'question of a workflow', path: ({ wait }) => `/waits/${wait}` },
  { name: 'channels', path: () => '/channels' },
  { name: 'channel', path: ({ channel }) => `/channels/${channel}`, prepare: unfold },
  { name: 'channel, new', path: () => '/channels/new?type=whatsapp_cloud' },
  {
    name: 'channel, refused',
    path: () => '/channels/new?type=whatsapp_cloud',
    isRefusal: true,
    prepare: refuseChannel,
  },
  {
    name: 'conversation with payment links',
    path: ({ paying }) => `/conversations/${paying}`,
    prepare: unfold,
  },
  { name: 'payment link, new', path: ({ paying }) => `/conversations/${paying}/payment-link` },
  {
    name: 'payment link, refused',
    path: ({ paying }) => `/conversations/${paying}/payment-link`,
    isRefusal: true,
    prepare: refusePaymentLink,
  },
  { name: 'payments', path: () => '/payments', prepare: unfold },
  { name: 'payments, none of a status', path: () => '/payments?status=failed' },
  { name: 'payment provider with keys', path: () => '/payments/providers/stripe', prepare: unfold },
  {
    name: 'payment provider, refused',
    path: () => '/payments/providers/manual',
    isRefusal: true,
    prepare: refuseProvider,
  },
  { name: 'keys', path: () => '/keys' },
  { name: 'keys, forms open', path: () => '/keys', prepare: unfold },
  {
    name: 'key',
    path: () => '/keys',
    leadsTo: '/keys/:id',
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Default key' }).click();
      await page.getByRole('heading', { name: 'Default key' }).waitFor();
      await unfold(page);
    },
  },
  { name: 'contact details read', path: ({ revealing }) => `/keys/${revealing}/reveals` },
  {
    name: 'delivery, with its curl command',
    path: ({ failing }) => `/keys/subscriptions/${failing}`,
    leadsTo: '/keys/subscriptions/:id/deliveries/:deliveryId',
    prepare: async (page) => {
      await unfold(page);
      await page
        .getByRole('link', { name: /payload and headers/i })
        .first()
        .click();
      await button(page, 'Show as curl').click();
      await page.getByRole('group', { name: 'The command' }).waitFor();
      await unfold(page);
    },
  },
  {
    name: 'delivery, not found',
    path: () => '/keys/deliveries?id=evt_unknown',
    isRefusal: true,
  },
  {
    name: 'failed deliveries, resending',
    path: ({ failing }) => `/keys/subscriptions/${failing}/recover`,
  },
  { name: 'examples', path: () => '/examples', prepare: unfold },
  {
    name: 'subscription that fails',
    path: ({ failing }) => `/keys/subscriptions/${failing}`,
    prepare: unfold,
  },
  { name: 'tools', path: () => '/tools' },
  { name: 'tool, new', path: () => '/tools/new' },
  {
    name: 'tool, new of kind HTTP',
    path: () => '/tools/new',
    prepare: (page) => page.getByRole('radio', { name: 'HTTP' }).check(),
  },
  { name: 'tool, refused', path: () => '/tools/new', isRefusal: true, prepare: refuseTool },
  { name: 'tool, edited', path: ({ httpTool }) => `/tools/${httpTool}/edit` },
  { name: 'tool with a result', path: ({ liveTool }) => `/tools/${liveTool}`, prepare: testTool },
  {
    name: 'tool with a failure',
    path: ({ failedTool }) => `/tools/${failedTool}`,
    prepare: unfold,
  },
  { name: 'agent', path: () => '/agent', prepare: tryAgent },
  { name: 'team', path: () => '/team', prepare: invite },
  { name: 'settings', path: () => '/settings' },
  { name: 'account', path: () => '/account' },
  { name: 'no such page', path: () => '/conversations/conv_unknown', isRefusal: true },
  { name: 'canned replies', path: () => '/settings/canned-replies' },
  {
    name: 'canned reply, edited',
    path: ({ cannedReply }) => `/settings/canned-replies/${cannedReply}`,
  },
  { name: 'pay page', path: ({ payPath }) => payPath, isPublic: true },
  { name: 'API reference', path: () => '/api/docs', isPublic: true },
  { name: 'API reference, subscriptions', path: () => '/api/docs/subscriptions', isPublic: true },
  { name: 'API reference, objects', path: () => '/api/docs/objects', isPublic: true },
  { name: 'chat', path: () => '/chat', isPublic: true },
  ...memberStates([
    ['overview', () => '/overview'],
    ['conversations', () => '/conversations'],
    ['conversation with an approval', ({ approval }) => `/conversations/${approval}`],
    ['contact', ({ mine }) => `/conversations/${mine}/contact`],
    ['waiting', () => '/waiting'],
    ['tools', () => '/tools'],
    ['tool', ({ liveTool }) => `/tools/${liveTool}`],
    ['agent', () => '/agent'],
    ['channels', () => '/channels'],
    ['channel', ({ channel }) => `/channels/${channel}`],
    ['payments', () => '/payments'],
    ['keys', () => '/keys'],
    ['key', ({ revealing }) => `/keys/${revealing}`],
    ['subscription', ({ failing }) => `/keys/subscriptions/${failing}`],
    ['examples', () => '/examples'],
    ['team', () => '/team'],
    ['settings', () => '/settings'],
    ['canned replies', () => '/settings/canned-replies'],
    ['account', () => '/account'],
  ]),
  {
    name: 'tool, new, refused to a member',
    path: () => '/tools/new',
    isForMember: true,
    isRefusal: true,
  },
];

function memberStates(pages: readonly (readonly [string, ScreenState['path']])[]): ScreenState[] {
  return pages.map(([name, path]) => ({
    name: `${name}, as a member`,
    path,
    prepare: unfold,
    isForMember: true,
  }));
}

async function refuseSignIn(page: Page) {
  await page.getByLabel('Email').fill('nobody@example.com');
  await page.getByLabel('Password').fill('wrong password');
  await button(page, 'Sign in').click();
  await page.getByRole('alert').waitFor();
}

async function refuseChannel(page: Page) {
  await page.getByLabel('Name', { exact: true }).fill('Shop');
  await page.getByLabel('Phone number ID').fill('+1 555 078 3881');
  await page.getByLabel('Access token').fill('EAAG');
  await page.getByLabel('App secret').fill('secret');
  await button(page, 'Connect').click();
  await page.getByText('Correct the marked fields').waitFor();
}

async function refuseTool(page: Page) {
  await page.getByLabel('Name', { exact: true }).first().fill('Not A Name');
  await page.getByLabel('Description').first().fill('Finds an order.');
  await button(page, 'Create tool').click();
  await page.getByText('Correct the marked fields.').waitFor();
}

async function refusePaymentLink(page: Page) {
  await page.getByLabel('Amount').fill('1,234.50');
  await page.getByLabel('Description').fill('Fastnet jacket');
  await button(page, 'Create link').click();
  await page.getByText('Must be an amount of').waitFor();
}

async function refuseProvider(page: Page) {
  await page.getByLabel('Payment instructions').fill(' ');
  await button(page, 'Save').click();
  await page.getByText('Must not be empty.').waitFor();
}

/** Sends the form without its required box, which the service refuses. */
async function forgetUnconfirmed(page: Page) {
  await page.locator('form:has(#do-forget)').evaluate((form: HTMLFormElement) => {
    form.noValidate = true;
  });
  await page.locator('#do-forget').click();
  await page.getByRole('status').getByText('Nothing was removed.').waitFor();
}

/** Opens everything that is folded. */
async function unfold(page: Page) {
  await page.evaluate(() =>
    document
      .querySelectorAll('main details')
      .forEach((each) => ((each as HTMLDetailsElement).open = true)),
  );
}

export async function testTool(page: Page) {
  await page.getByLabel('order_number').fill('A-1042');
  await button(page, 'Run test call').click();
  await page.getByRole('group', { name: 'Result' }).first().waitFor();
  // The answer scrolls to the result, where the bar at the top may cover half a button.
  await page.evaluate(() => scrollTo(0, 0));
}

export async function tryAgent(page: Page) {
  await page.getByLabel('Customer message').fill('Where is my order A-1042?');
  await button(page, 'Try it').click();
  await page.getByRole('heading', { name: /^It would/ }).waitFor();
}

async function invite(page: Page) {
  await page.getByLabel('Who is it for?').fill('Ben, our new colleague');
  await button(page, 'Create invitation link').click();
  await page.getByText('/join?token=').waitFor();
}
