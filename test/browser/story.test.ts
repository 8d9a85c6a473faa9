import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { apiClient } from '../helpers/apiClient.ts';
import { freePort, startProgram, type Program } from '../helpers/program.ts';
import { freshStorage, type Storage } from '../helpers/storage.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../helpers/tls.ts';
import { startToolEndpoint, type ToolEndpoint } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { launchBrowser, openWindow, type BrowserWindow } from './browser.ts';
import { closeConversation, fillSetUp } from './team.ts';

const mainFile = fileURLToPath(new URL('../../service/dist/main.js', import.meta.url));

/** Starts the built service as after its installation, with nothing set up. */
async function startNew(
  { folder, env: storageEnv }: Storage,
  caFile: string,
): Promise<{ program: Program; setupLink: string }> {
  const port = await freePort();
  const logFile = join(folder, 'service.log');
  const env = {
    PORT: String(port),
    ...storageEnv,
    ALLOWED_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: caFile,
    AGENT_QUIET_MS: '50',
  };
  const program = await startProgram({
    name: 'The service',
    script: mainFile,
    cwd: folder,
    env,
    logFile,
  });
  await program.ready(() => fetch(`http://127.0.0.1:${port}/readyz`).then(({ ok }) => ok));
  const setupLink = await waitFor(
    'the set-up link in the log',
    async () => /http\S+\/setup\?token=\S+/.exec(await readFile(logFile, 'utf8'))?.[0],
  );
  return { program, setupLink };
}

describe('the whole story, as people see it', () => {
  let storage: Storage;
  let files: TlsFiles;
  let endpoint: ToolEndpoint;
  let browser: Browser;
  let program: Program;
  let setupLink: string;
  let url: string;
  const windows: BrowserWindow[] = [];

  beforeAll(async () => {
    storage = await freshStorage('data');
    files = await writeTlsFiles(await sharedTestCa());
    [browser, endpoint, { program, setupLink }] = await Promise.all([
      launchBrowser(),
      startToolEndpoint(),
      startNew(storage, files.caFile),
    ]);
    url = new URL(setupLink).origin;
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
    await endpoint?.close();
    await files?.remove();
    await storage?.remove();
  });

  const open = async (): Promise<Page> => {
    const window = await openWindow(browser);
    windows.push(window);
    window.page.on('dialog', (dialog) => void dialog.accept());
    return window.page;
  };
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name });
  const mainLink = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });
  const writeInChat = async (customer: Page, text: string) => {
    await customer.getByRole('textbox', { name: 'Your message' }).fill(text);
    await button(customer, 'Send').click();
  };
  const arrive = async (name: string) => {
    const customer = await open();
    await customer.goto(`${url}/chat`);
    await customer.getByLabel('Name').fill(name);
    await button(customer, 'Continue').click();
    return customer;
  };

  async function setUp(): Promise<Page> {
    const member = await open();
    await member.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await member.goto(setupLink);
    await fillSetUp(member);
    await button(member, 'Set up and show the API key').click();
    await member.getByRole('heading', { name: 'Ready' }).waitFor();
    return member;
  }

  async function copyKey(member: Page) {
    const key = await member.getByText(/^cs_live_/).innerText();
    await member.getByRole('button', { name: 'Copy the API key' }).click();
    await member.getByText('Copied', { exact: true }).waitFor();
    expect(await member.evaluate(() => navigator.clipboard.readText())).toBe(key);
    expect((await apiClient(url, key).get('/api/conversations')).status).toBe(200);
  }

  async function answerCustomer(member: Page) {
    await button(member, 'Go to conversations').click();
    await member.getByText('No conversations yet.').waitFor();
    const maria = await arrive('María');
    await writeInChat(maria, 'Hello, do you repair tents?');
    await link(member, /María/).click();
    await member.getByRole('article').getByText('do you repair tents?').waitFor();
    await button(member, 'Take over').click();
    await member.getByText('Ana took over').waitFor();
    await member.getByLabel('Your reply').fill('Yes, we do. Bring it by on any weekday.');
    await button(member, 'Send').click();
    await maria.getByRole('article').getByText('Bring it by on any weekday.').waitFor();
    await member.getByRole('article').getByText('Bring it by on any weekday.').waitFor();
  }

  async function defineTool(member: Page) {
    await mainLink(member, 'Tools').click();
    await button(member, 'New tool').click();
    await member.getByRole('radio', { name: 'Webhook' }).check();
    await member.getByLabel('Name', { exact: true }).first().fill('cancel_order');
    await member.getByLabel('Description').first().fill('Cancels an order by its number.');
    const parameter = member.getByRole('group', { name: 'Parameter 1' });
    await parameter.getByLabel('Name').fill('order_number');
    await parameter.getByLabel('Description').fill('Order number');
    await parameter.getByLabel('Required').check();
    await member.getByLabel('Endpoint URL').fill(`${endpoint.url}/orders`);
    await member.getByRole('switch', { name: /^Ask before running/ }).check();
    await button(member, 'Create tool').click();
    await member.getByRole('heading', { name: 'cancel_order created' }).waitFor();
    endpoint.verify('/orders', await member.getByText(/^whsec_.{40}/).innerText());
    await button(member, 'Go to the tool').click();
  }

  async function makeToolLive(member: Page) {
    expect(await button(member, 'Go live').isDisabled()).toBe(true);
    endpoint.answerAlways('/orders', {
      json: { message: 'Order 20481 is cancelled, and the money is on its way back.' },
    });
    await member.getByLabel('order_number').fill('20481');
    await button(member, 'Run test call').click();
    await member
      .getByRole('group', { name: 'Result' })
      .first()
      .getByText('Order 20481 is cancelled')
      .waitFor();
    await button(member, 'Go live').click();
    await member.getByText('The tool is live').waitFor();
    await member.getByRole('link', { name: 'Turn it on' }).click();
    await button(member, 'Turn on').click();
    await member.getByRole('heading', { name: 'The agent is on' }).waitFor();
  }

  async function approve(member: Page): Promise<Page> {
    await mainLink(member, 'Conversations').click();
    await link(member, /María/).waitFor();
    const tom = await arrive('Tom');
    await writeInChat(tom, 'Please cancel order number 20481');
    await tom.getByRole('article').getByText('Shall I cancel order 20481?').waitFor();
    await writeInChat(tom, 'Yes, please');
    await link(member, '1 approval is waiting for your decision').click();
    await link(member, /^Tom/).click();
    const card = member.getByRole('article', { name: 'Approval of Cancel order' });
    await card.getByText('20481').waitFor();
    await card.getByText(new URL(endpoint.url).host).waitFor();
    await card.getByRole('button', { name: 'Approve Cancel order' }).click();
    await card.getByText('Approved by').waitFor();
    await tom.getByRole('article').getByText('the money is on its way back').waitFor();
    await card.getByText('succeeded').waitFor();
    return tom;
  }

  async function close(member: Page) {
    await closeConversation(member, 'Goal reached', 'Order cancelled and paid back.');
    await member.getByText('Conversation closed.').waitFor();
    await member.getByText('Order cancelled and paid back.').waitFor();
    await member.getByText('you can’t send messages').waitFor();
  }

  it('goes from the set-up link in the log to a closed conversation', async () => {
    const member = await setUp();
    await copyKey(member);
    await answerCustomer(member);
    await defineTool(member);
    await makeToolLive(member);
    const tom = await approve(member);
    await close(member);
    await writeInChat(tom, 'Thank you!');
    await tom.getByText('New conversation').waitFor();
    expect(endpoint.faults).toEqual([]);
    expect(endpoint.envelopes('/orders')).toHaveLength(2);
    for (const window of windows) await window.close();
  });

  it('lets the set-up link work once', async () => {
    const stranger = await openWindow(browser);
    stranger.allowErrors(/404/);
    await stranger.page.goto(setupLink);
    await stranger.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await stranger.close();
  });
});
