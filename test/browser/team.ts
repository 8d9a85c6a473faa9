// A service with its first member, an endpoint for tools and events, and a browser in which each
// person has a window.
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { Clock } from '../../service/src/platform/clock.ts';
import { MEMBER, MEMBER_ENV, signedInBrowser } from '../helpers/browserless.ts';
import { startGraphServer, type GraphServer } from '../helpers/graphServer.ts';
import { freePort } from '../helpers/program.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { TOOL_TEST_ENV, startToolEndpoint, type ToolEndpoint } from '../helpers/toolEndpoint.ts';
import { launchBrowser, openWindow, type BrowserWindow, type WindowOptions } from './browser.ts';

export interface Team {
  readonly service: TestService;
  readonly endpoint: ToolEndpoint;
  /** Stands for Meta, to which the service sends WhatsApp messages. */
  readonly graph: GraphServer;
  readonly browser: Browser;
  /** A new person's window; `closeWindows` closes it. */
  open(options?: WindowOptions): Promise<BrowserWindow>;
  /**
   * A window in which a member, by default the first one, ana, reads a page. It skips the sign-in
   * form, which would take most of the time of many tests.
   */
  openSignedIn(
    path?: string,
    options?: WindowOptions,
    member?: Credentials,
  ): Promise<BrowserWindow>;
  /** @throws Error when a page in one of them did something wrong */
  closeWindows(): Promise<void>;
  /** Closes the browser, the service and the servers around it. */
  close(): Promise<void>;
}

interface TeamOptions {
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
}

/** The team that `useTeam` has started. */
export let team: Team;

/** Starts a team for the tests of a file, and closes their windows after each of them. */
export function useTeam(options?: TeamOptions): void {
  beforeAll(async () => {
    team = await startTeam(options);
  });
  afterEach(() => team.closeWindows());
  afterAll(() => team?.close());
}

export async function startTeam({ env = {}, clock }: TeamOptions = {}): Promise<Team> {
  const [browser, endpoint, graph, port] = await Promise.all([
    launchBrowser(),
    startToolEndpoint(),
    startGraphServer(),
    freePort(),
  ]);
  const service = await startTestService({
    clock,
    ca: endpoint.ca,
    env: { PORT: String(port), ...MEMBER_ENV, ...TOOL_TEST_ENV, GRAPH_API_URL: graph.url, ...env },
  });
  const windows = new Set<BrowserWindow>();
  const open = async (options?: WindowOptions) => {
    const window = await openWindow(browser, options);
    windows.add(window);
    return window;
  };
  return {
    service,
    endpoint,
    graph,
    browser,
    open,
    async openSignedIn(path = '/conversations', options, member) {
      const [window, { cookie }] = await Promise.all([
        open(options),
        signedInBrowser(service.url, member),
      ]);
      const [name, value] = cookie.split('=') as [string, string];
      await window.context.addCookies([{ name, value, url: service.url }]);
      // `goto` waits for the scripts, which listen for keys.
      await window.page.goto(service.url + path);
      return window;
    },
    async closeWindows() {
      const all = [...windows];
      windows.clear();
      const closings = await Promise.allSettled(all.map((window) => window.close()));
      for (const closing of closings) if (closing.status === 'rejected') throw closing.reason;
    },
    async close() {
      await browser.close();
      await service.stop();
      await endpoint.close();
      await graph.close();
    },
  };
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Opens a page, and signs a member in by the form that it leads to. */
export async function signIn(
  page: Page,
  url: string,
  path = '/conversations',
  member: Credentials = MEMBER,
): Promise<void> {
  await page.goto(url + path);
  await fillSignIn(page, member);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  // The scripts listen for keys from now on.
  await page.waitForLoadState();
}

/** Fills in the form that sets up a new service, for ana. */
export async function fillSetUp(page: Page): Promise<void> {
  await page.getByLabel('Workspace name').fill('Harbour Outfitters');
  await page.getByLabel('Your name').fill('Ana');
  await page.getByLabel('Your email').fill(MEMBER.email);
  await page.getByLabel('Password').fill(MEMBER.password);
}

/** Fills in the sign-in form that is shown, and sends it. */
export async function fillSignIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Closes the conversation that is open, by its form. */
export async function closeConversation(page: Page, outcome: string, summary: string) {
  await page.getByRole('button', { name: 'Close…' }).click();
  await page.getByLabel('Outcome').selectOption(outcome);
  await page.getByLabel('Summary').fill(summary);
  await page.getByRole('button', { name: 'Close conversation' }).click();
}

/** Marks a page; a reload would forget the mark. */
export const markPage = (page: Page) =>
  page.evaluate(() => void Object.assign(globalThis, { isSamePage: true }));

/** Asserts that a page has not been loaded again since `markPage`. */
export const expectNoReload = async (page: Page) =>
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);

export const BEN = { name: 'Ben', email: 'ben@example.com', password: 'a second good password' };

/** A member invites a newcomer as an owner; the newcomer joins by the link, and reads the inbox. */
export async function join(
  member: Page,
  newcomer: Page,
  url: string,
  { name, email, password } = BEN,
): Promise<void> {
  await member.goto(`${url}/team`);
  await member.getByLabel('Who is it for?').fill(name);
  await member.getByLabel('Role').selectOption('Owner');
  await member.getByRole('button', { name: 'Create invitation link' }).click();
  const link = await member.getByText('/join?token=').innerText();
  await newcomer.goto(link);
  await newcomer.getByLabel('Your name').fill(name);
  await newcomer.getByLabel('Your email').fill(email);
  await newcomer.getByLabel('Password').fill(password);
  await newcomer.getByRole('button', { name: 'Join' }).click();
  await newcomer.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  await newcomer.goto(`${url}/conversations`);
}
