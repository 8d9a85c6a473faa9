// Nothing typed is lost and nothing is silent: each trouble is made to happen.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { chatCustomer } from '../helpers/apiClient.ts';
import { startTeam, type Team } from './team.ts';

let team: Team;
beforeAll(async () => {
  team = await startTeam();
});
afterEach(() => team.closeWindows());
afterAll(() => team?.close());

const conversation = async (name: string) => {
  const customer = await chatCustomer(team.service.url, { name });
  const { conversation_id: id } = await customer.write(`I am ${name}.`);
  return { customer, id, path: `/conversations/${id}` };
};
const article = (page: Page, text: string) => page.getByRole('article').getByText(text);
/** The paths that a page fetches from now on. */
const fetchesOf = (page: Page) => {
  const paths: string[] = [];
  page.on('request', (request) => {
    if (['xhr', 'fetch'].includes(request.resourceType()))
      paths.push(new URL(request.url()).pathname);
  });
  return paths;
};

describe('one live connection for all pages of a browser', () => {
  it('eight tabs load over HTTP/1.1, and each shows a new message', async () => {
    const { customer, path } = await conversation('Ada');
    const { context, page } = await team.openSignedIn(path);
    const tabs = [page];
    for (let number = 2; number <= 8; number++) {
      const tab = await context.newPage();
      await tab.goto(team.service.url + path);
      await article(tab, 'I am Ada.').waitFor();
      tabs.push(tab);
    }
    await customer.write('Do you see this everywhere?');
    for (const tab of tabs) await article(tab, 'Do you see this everywhere?').waitFor();
  });

  it('a browser without shared workers has one for the page that is looked at', async () => {
    const { customer, path } = await conversation('Bea');
    const { context, page } = await team.openSignedIn('/settings');
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'));
    await page.goto(team.service.url + path);
    await article(page, 'I am Bea.').waitFor();
    await customer.write('And without?');
    await article(page, 'And without?').waitFor();
  });

  it('a page that has just loaded fetches nothing again', async () => {
    const { customer, path } = await conversation('Cem');
    const { context } = await team.openSignedIn('/settings');
    const page = await context.newPage();
    const fetched = fetchesOf(page);
    await page.goto(team.service.url + path);
    await customer.write('Only this one.');
    await article(page, 'Only this one.').waitFor();
    const { length } = fetched.filter((each) => each === `${path}/items`);
    expect(length).toBe(1);
  });
});
