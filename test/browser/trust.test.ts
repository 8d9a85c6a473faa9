// When something goes wrong, nothing typed is lost and the reader is told.
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { ChatCustomer } from '../helpers/apiClient.ts';
import { MEMBER } from '../helpers/browserless.ts';
import { connectNumber, deliver, metaMessage, metaText } from '../helpers/meta.ts';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import { startConversation } from './customers.ts';
import { BEN, fillSignIn, signIn, team, useTeam } from './team.ts';

useTeam();

const article = (page: Page, text: string) => page.getByRole('article').getByText(text);

describe('one live connection for all pages of a browser', () => {
  // A browser opens at most six connections to an address.
  it('seven tabs load over HTTP/1.1, and each shows a new message', async () => {
    const { customer, path } = await startConversation('Ada');
    const { context, page } = await team.openSignedIn(path);
    const tabs = [page];
    for (let number = 2; number <= 7; number++) {
      const tab = await context.newPage();
      await tab.goto(team.service.url + path);
      await article(tab, 'Hello?').waitFor();
      tabs.push(tab);
    }
    await customer.write('Do you see this everywhere?');
    for (const tab of tabs) await article(tab, 'Do you see this everywhere?').waitFor();
  });

  it('a page shows a new message in a browser without shared workers too', async () => {
    const { customer, path } = await startConversation('Bea');
    const { context, page } = await team.openSignedIn('/settings');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    await page.goto(team.service.url + path);
    await article(page, 'Hello?').waitFor();
    await customer.write('And without?');
    await article(page, 'And without?').waitFor();
  });

  it.each(['shared', 'own'])(
    'a change while the next page is loading is shown there (%s connection)',
    async (kind) => {
      const { customer, path } = await startConversation(`Eve ${kind}`);
      const { context, page } = await team.openSignedIn('/settings');
      if (kind === 'own')
        await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
      await page.goto(team.service.url + path);
      await reply(page).fill('One moment.');
      const { promise: isAnswered, resolve: answered } = Promise.withResolvers<undefined>();
      const { promise: isReleased, resolve: release } = Promise.withResolvers<undefined>();
      // The redirect is followed here: Playwright routes no redirected request.
      await page.route(`**${path}/reply*`, async (route) => {
        const response = await route.fetch();
        answered(undefined);
        await isReleased;
        await route.fulfill({ response });
      });
      await send(page);
      await isAnswered;
      const updated = page.waitForResponse(`**${path}/items`);
      await customer.write('Are you there?');
      await updated;
      release(undefined);
      await article(page, 'One moment.').waitFor();
      await article(page, 'Are you there?').waitFor();
    },
  );

  it('with many pages open, a page pauses before it loads a part once more', async () => {
    const { customer } = await startConversation('Dee');
    const { context, page } = await team.openSignedIn('/conversations');
    const cookie = (await context.cookies())
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const ending = new AbortController();
    const others = Array.from({ length: 15 }, () =>
      fetch(`${team.service.url}/live`, { headers: { cookie }, signal: ending.signal }),
    );
    for (const { status } of await Promise.all(others)) expect(status).toBe(200);
    const row = page.getByRole('link', { name: /Dee/ });
    // The answer says how long the pause is.
    const first = page.waitForResponse('**/conversations/list*');
    await customer.write('number 0');
    await first;
    const requestedAt: number[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/conversations/list')) requestedAt.push(performance.now());
    });
    for (let number = 1; number <= 12; number += 1) {
      await customer.write(`number ${number}`);
      await new Promise((resolve) => setTimeout(resolve, 160));
    }
    await row.filter({ hasText: 'number 12' }).waitFor();
    ending.abort();
    const gaps = requestedAt.slice(1).map((at, n) => at - requestedAt[n]!);
    expect(gaps.length).toBeGreaterThan(0);
    expect(Math.min(...gaps)).toBeGreaterThan(250);
  });

  it('a page that has just loaded loads no part again before something changes', async () => {
    const { customer, path } = await startConversation('Cem');
    const { context } = await team.openSignedIn('/settings');
    const page = await context.newPage();
    const fetched: string[] = [];
    page.on('request', (request) => void fetched.push(new URL(request.url()).pathname));
    await page.goto(team.service.url + path);
    await customer.write('Only this one.');
    await article(page, 'Only this one.').waitFor();
    expect(fetched.filter((each) => each === `${path}/items`)).toHaveLength(1);
  });
});

const reply = (page: Page) => page.getByLabel('Your reply');
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click();

const storedTexts = (page: Page) => page.evaluate(() => JSON.stringify({ ...localStorage }));

describe('what is half written', () => {
  it('stays through a reload, another page and Back, and is gone once it is sent', async () => {
    const { path, customer } = await startConversation('Dan');
    const { page } = await team.openSignedIn(path);
    await reply(page).fill('Dear Dan, I think');
    await page.reload();
    expect(await reply(page).inputValue()).toBe('Dear Dan, I think');
    await page.getByRole('link', { name: 'Tools', exact: true }).click();
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    await page.goBack();
    await reply(page).waitFor();
    expect(await reply(page).inputValue()).toBe('Dear Dan, I think');
    await send(page);
    await article(page, 'Dear Dan, I think').waitFor();
    expect(await reply(page).inputValue()).toBe('');
    await page.reload();
    expect(await reply(page).inputValue()).toBe('');
    expect((await customer.read()).at(-1).text).toBe('Dear Dan, I think');
  });

  it('is shown again when it is a note, unless a reply was written after it', async () => {
    const { path } = await startConversation('Ida');
    const { page } = await team.openSignedIn(path);
    const note = page.getByLabel('Your note');
    await reply(page).fill('Dear Ida,');
    await page.getByRole('radio', { name: 'Note' }).check();
    await note.fill('She rang yesterday');
    await page.reload();
    await note.waitFor();
    expect(await note.inputValue()).toBe('She rang yesterday');
    await page.getByRole('radio', { name: 'Reply' }).check();
    await reply(page).fill('Dear Ida, thank you');
    await page.reload();
    await reply(page).waitFor();
    expect(await note.inputValue()).toBe('She rang yesterday');
    expect(await note.isVisible()).toBe(false);
  });

  it('stays when the session ends; the sign-in leads back to it', async () => {
    const { path } = await startConversation('Eve');
    const window = await team.openSignedIn(path);
    const { page } = window;
    window.allowErrors(/401|htmx:/);
    const elsewhere = await team.openSignedIn('/account');
    await reply(page).fill('I was about to say');
    await elsewhere.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await elsewhere.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await send(page);
    await page.getByText('Your session has ended.').waitFor();
    await fillSignIn(page, MEMBER);
    await reply(page).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
    expect(await reply(page).inputValue()).toBe('I was about to say');
  });

  it('in a payment form or a tool stays when the session ends; a secret is kept nowhere', async () => {
    await team.service.api.put('/api/payment-accounts/manual', {
      settings: { instructions: 'Pay.' },
    });
    const { path } = await startConversation('Gil');
    const { page, context } = await team.openSignedIn(`${path}/payment-link`);
    await page.getByLabel('Description').fill('Two tents');
    await page.goto(`${team.service.url}/tools/new`);
    await page.locator('[name=description]').fill('Looks an order up');
    const secrets = await page.locator('input[type=password]').all();
    expect(secrets.length).toBeGreaterThan(0);
    for (const secret of secrets)
      await secret.evaluate((input: HTMLInputElement) => {
        input.value = 'sk_hidden';
        input.dispatchEvent(new Event('input', { bubbles: true }));
      });
    await context.clearCookies();
    await signIn(page, team.service.url, `${path}/payment-link`, MEMBER);
    expect(await page.getByLabel('Description').inputValue()).toBe('Two tents');
    await page.goto(`${team.service.url}/tools/new`);
    expect(await page.locator('[name=description]').inputValue()).toBe('Looks an order up');
    expect(await storedTexts(page)).not.toContain('sk_hidden');
  });

  it('about a channel, a payment provider or a subscription stays; a secret and a URL are kept nowhere', async () => {
    const { page } = await team.openSignedIn('/channels/new?type=whatsapp_cloud');
    const ids = page.getByLabel('Phone number ID');
    await ids.fill('155507');
    for (const name of ['Access token', 'App secret'])
      await page.getByLabel(name).fill('sk_hidden');
    await page.reload();
    expect(await ids.inputValue()).toBe('155507');
    expect(await page.getByLabel('Access token').inputValue()).toBe('');

    await page.goto(`${team.service.url}/payments/providers/manual`);
    const instructions = page.getByLabel('Payment instructions');
    await instructions.fill('Pay at the desk.');
    await page.reload();
    expect(await instructions.inputValue()).toBe('Pay at the desk.');

    await page.goto(`${team.service.url}/keys`);
    await page.getByText('Create a subscription').click();
    const event = page.getByRole('checkbox', { name: /^message\.received/ });
    await event.check();
    await page.getByLabel('Source (optional)').fill('Warehouse');
    await page.getByLabel('Endpoint URL').fill('https://example.com/?key=sk_hidden');
    await page.reload();
    await event.waitFor();
    expect(await event.isChecked()).toBe(true);
    expect(await page.getByLabel('Source (optional)').inputValue()).toBe('Warehouse');
    expect(await storedTexts(page)).not.toContain('sk_hidden');
  });

  it('is seen by no other member of the same browser, and is gone after signing out', async () => {
    const { path } = await startConversation('Fay');
    const { page, context } = await team.openSignedIn(path);
    await teamOfTwo(team.service);
    await reply(page).fill('For nobody else');
    await context.clearCookies();
    await signIn(page, team.service.url, path, BEN);
    expect(await reply(page).inputValue()).toBe('');
    await reply(page).fill('Ben’s own');
    await page.goto(`${team.service.url}/account`);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const stored = await storedTexts(page);
    expect(stored).toContain('For nobody else');
    expect(stored).not.toContain('Ben’s own');
  });
});

describe('what cannot be sent', () => {
  const expectReceivedOnce = async (customer: ChatCustomer, wanted: string) =>
    expect((await customer.read()).filter(({ text }) => text === wanted)).toHaveLength(1);
  /** The service takes the first request, and the page never gets its answer. */
  const loseFirstAnswer = (page: Page, address: string) =>
    page.route(
      address,
      async (route) => {
        await route.fetch({ maxRedirects: 0 });
        await route.abort();
      },
      { times: 1 },
    );

  it('says so while the network is away, is sent once by Retry, and the thread catches up', async () => {
    const { path, customer } = await startConversation('Gil');
    const window = await team.openSignedIn(path);
    const { page, context } = window;
    window.allowErrors(/ERR_INTERNET_DISCONNECTED|Failed to fetch|htmx:|sendError/);
    // The first check of the connection succeeds, as when its answer was already on its way.
    await page.route('**/healthz', (route) => route.fulfill({ body: 'ok' }), { times: 1 });
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await reply(page).fill('Are you still there?');
    await send(page);
    await page.getByText('Not sent. The service cannot be reached.').waitFor();
    expect(await reply(page).inputValue()).toBe('Are you still there?');
    expect(await window.axe()).toEqual([]);
    await customer.write('I wrote this while you were away.');
    await context.setOffline(false);
    await article(page, 'I wrote this while you were away.').waitFor();
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Retry' }).click();
    await article(page, 'Are you still there?').waitFor();
    expect(await reply(page).inputValue()).toBe('');
    await expectReceivedOnce(customer, 'Are you still there?');
  });

  it('is sent once when the answer to the first attempt was lost', async () => {
    const { path, customer } = await startConversation('Hal');
    const window = await team.openSignedIn(path);
    const { page } = window;
    window.allowErrors(/ERR_FAILED|htmx:|sendError/);
    await loseFirstAnswer(page, '**/reply');
    await reply(page).fill('Only once.');
    await send(page);
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Not sent.').waitFor({ state: 'detached' });
    await article(page, 'Only once.').first().waitFor();
    await expectReceivedOnce(customer, 'Only once.');
  });

  it('is added once when it is a note whose first answer was lost', async () => {
    const { path, id } = await startConversation('Han');
    const window = await team.openSignedIn(path);
    const { page } = window;
    window.allowErrors(/ERR_FAILED|htmx:|sendError/);
    await loseFirstAnswer(page, '**/note');
    await page.getByRole('radio', { name: 'Note' }).check();
    await page.getByLabel('Your note').fill('Only once.');
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Not sent.').waitFor({ state: 'detached' });
    await page.goto(`${team.service.url}/conversations/${id}`);
    expect(await article(page, 'Only once.').count()).toBe(1);
  });

  it('stays in place when the service fails', async () => {
    const { path } = await startConversation('Ida');
    const window = await team.openSignedIn(path);
    const { page } = window;
    window.allowErrors(/500|htmx:/);
    await page.route('**/reply', (route) => route.fulfill({ status: 500, body: 'broken' }), {
      times: 1,
    });
    await reply(page).fill('A long answer.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Not sent. The service failed. Try again.').waitFor();
    expect(await reply(page).inputValue()).toBe('A long answer.');
    await page.getByRole('button', { name: 'Retry' }).click();
    await article(page, 'A long answer.').waitFor();
  });

  it('says so, and is sent by Retry, when it is a button that changes a part of a form', async () => {
    const window = await team.openSignedIn('/tools/new');
    const { page } = window;
    window.allowErrors(/500|htmx:/);
    await page.route('**/tools', (route) => route.fulfill({ status: 500, body: 'broken' }), {
      times: 1,
    });
    const name = page.locator('#f-name');
    await name.fill('find_order');
    await page.getByRole('button', { name: 'Add parameter' }).click();
    await page.getByText('Not sent. The service failed. Try again.').waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('button', { name: 'Remove the parameter 2' }).waitFor();
    expect(await name.inputValue()).toBe('find_order');
  });
});

describe('a reply that is on its way', () => {
  /** Opens a conversation, and holds the answer to what is sent there until it is let go. */
  const holdReply = async (path: string) => {
    const window = await team.openSignedIn(path);
    window.allowErrors(/400/);
    const { page } = window;
    const { promise: held, resolve: letGo } = Promise.withResolvers<undefined>();
    await page.route(
      '**/reply*',
      async (route) => {
        const response = await route.fetch({ maxRedirects: 0 });
        await held;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    return { page, letGo };
  };

  it('does not take the place of the conversation that was opened since, and its draft is gone', async () => {
    const ivy = await startConversation('Ivy');
    const joe = await startConversation('Joe');
    const { page, letGo } = await holdReply(ivy.path);
    await reply(page).fill('For Ivy.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('link', { name: /^Joe/ }).click();
    await page.getByRole('heading', { name: 'Joe' }).waitFor();
    await reply(page).fill('For Joe, ');
    const answered = page.waitForResponse('**/reply*');
    letGo(undefined);
    await answered;
    await reply(page).pressSequentially('who waits.');
    await page.keyboard.press('Control+Enter');
    await article(page, 'For Joe, who waits.').waitFor();
    expect((await joe.customer.read()).at(-1)?.text).toBe('For Joe, who waits.');
    await page.goto(team.service.url + ivy.path);
    await article(page, 'For Ivy.').waitFor();
    expect(await reply(page).inputValue()).toBe('');
  });

  it('and is refused comes back with what was typed since', async () => {
    const { path } = await startConversation('Kim');
    const { page, letGo } = await holdReply(path);
    await reply(page).fill('   ');
    await page.keyboard.press('Control+Enter');
    await reply(page).pressSequentially('more');
    letGo(undefined);
    await page.locator('#f-text[aria-invalid=true]').waitFor();
    expect(await reply(page).inputValue()).toBe('   more');
  });
});

describe('a live part', () => {
  it('that names another part to replace keeps it when its request fails', async () => {
    const window = await team.openSignedIn('/agent');
    const { page } = window;
    window.allowErrors(/503|htmx:/);
    await page.route('**/agent/fragment*', (route) => route.fulfill({ status: 503, body: '' }), {
      times: 1,
    });
    const failed = page.waitForResponse('**/agent/fragment*');
    await team.service.api.patch('/api/agent', { enabled: true });
    await failed;
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    await team.service.api.patch('/api/agent', { enabled: false });
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
  });

  it('whose request fails is loaded again until it succeeds', async () => {
    const { path, customer } = await startConversation('Jim');
    const window = await team.openSignedIn(path);
    const { page } = window;
    window.allowErrors(/503|htmx:/);
    await page.route('**/items**', (route) => route.fulfill({ status: 503, body: '' }), {
      times: 2,
    });
    await customer.write('This comes late.');
    await article(page, 'This comes late.').waitFor();
    await page.locator('#announcer', { hasText: 'Jim: This comes late.' }).waitFor({
      state: 'attached',
    });
  });

  it('is announced with the picture and its caption', async () => {
    const number = await connectNumber(team.service.api);
    const receive = (body: object) => deliver(team.service.url, number, body);
    await receive(metaText('Hello?'));
    const { body } = await team.service.api.get('/api/conversations?channel=whatsapp_cloud');
    const { page } = await team.openSignedIn(`/conversations/${body.data[0].id}`);
    await article(page, 'Hello?').waitFor();
    await receive(metaMessage({ type: 'image', image: { caption: 'This one?' } }));
    await page.locator('#announcer', { hasText: /Picture.*This one\?/ }).waitFor({
      state: 'attached',
    });
  });

  it('of a page that was left changes nothing on the next page', async () => {
    const tool = await team.endpoint.define(team.service.api, {
      name: 'find_order',
      parameters: { type: 'object', properties: {} },
    });
    const { page } = await team.openSignedIn(`/tools/${tool.id}`);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<undefined>();
    await page.route(
      '**/fragment*',
      async (route) => {
        const response = await route.fetch();
        await isReleased;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    const asked = page.waitForRequest('**/fragment*');
    await page.route('**/test', async (route) => {
      const response = await route.fetch();
      await asked;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Run test call' }).click();
    const result = page.getByRole('group', { name: 'Result' }).first();
    await result.waitFor();
    const late = (await asked).response();
    release(undefined);
    await (await late)!.finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await result.isVisible()).toBe(true);
  });

  it('shows what came while the service was away', async () => {
    const { path, id } = await startConversation('Kim');
    const window = await team.openSignedIn(path);
    const { page } = window;
    window.allowErrors(/ERR_|503|htmx:|Failed to fetch/);
    await team.service.restart();
    await team.service.api.post(`/api/conversations/${id}/messages`, {
      text: 'After the restart.',
    });
    await article(page, 'After the restart.').waitFor();
  });
});

it('times are in the time zone of the reader', async () => {
  await team.service.api.put('/api/payment-accounts/manual', {
    settings: { instructions: 'To our account.' },
  });
  const { id } = await startConversation('Lea');
  const { body: link } = await team.service.api.post(`/api/conversations/${id}/payment-links`, {
    amount: 4900,
    currency: 'usd',
    description: 'Demo',
    provider: 'manual',
  });
  const { page } = await team.open({ context: { timezoneId: 'Asia/Tokyo' } });
  await page.goto(link.url);
  const shown = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'Asia/Tokyo',
  }).format(new Date(link.expires_at));
  await page.getByText(shown, { exact: true }).waitFor();
});
