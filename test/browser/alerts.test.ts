// How a team learns of work: counts, notifications and assignments.
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { blockStorage } from './browser.ts';
import { startConversation } from './customers.ts';
import { BEN, signIn, team, useTeam } from './team.ts';

describe('how a team learns of work', () => {
  useTeam();

  beforeAll(async () => {
    await team.service.api.patch('/api/agent', { enabled: true });
    await teamOfTwo(team.service);
  });

  /** A customer asks for a person, and the agent hands over. @returns the conversation */
  async function askForPerson(name: string): Promise<string> {
    const { id } = await startConversation(name, 'Can I talk to a person, please?');
    await waitFor('the handover', async () => {
      const { body } = await team.service.api.get(`/api/conversations/${id}`);
      return body.status === 'awaiting_human';
    });
    return id;
  }
  /** A customer writes while the agent is off. @returns the conversation */
  async function writeToNobody(name: string): Promise<string> {
    await team.service.api.patch('/api/agent', { enabled: false });
    const { id } = await startConversation(name);
    await team.service.api.patch('/api/agent', { enabled: true });
    return id;
  }
  const answer = (id: string) =>
    team.service.api.post(`/api/conversations/${id}/messages`, { text: 'Here I am.' });
  const waitForTitle = (page: Page, title: RegExp) =>
    waitFor('the title', async () => title.test(await page.title()));
  const row = (page: Page, name: string) => page.locator('a.item', { hasText: name });

  it('counts the customers who wait in the navigation and in the title, on load and live', async () => {
    const { page } = await team.openSignedIn('/tools');
    const fetched: string[] = [];
    page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
    const id = await askForPerson('Counted');
    const count = page.locator('#conversations-count');
    await count.getByText('1', { exact: true }).waitFor();
    await waitForTitle(page, /^\(1\) Tools/);
    fetched.length = 0;
    await page.goto(`${team.service.url}/payments`);
    expect(await count.innerText()).toBe('1');
    expect(await page.title()).toMatch(/^\(1\) Payments/);
    // Long enough for a request that would follow the load.
    await page.waitForTimeout(1000);
    expect(fetched.filter((path) => path.endsWith('/count'))).toEqual([]);
    await answer(id);
    await waitForTitle(page, /^Payments/);
    expect(await count.innerText()).toBe('');
  });

  /** Records each notification by its title, and each tone, from the next page on. */
  async function recordAlerts(context: BrowserContext): Promise<string[]> {
    const alerted: string[] = [];
    await context.exposeBinding('note', (_source, what: string) => void alerted.push(what));
    await context.addInitScript(`
      globalThis.Notification = class {
        static get permission() { return localStorage.permission ?? 'default'; }
        static async requestPermission() { return (localStorage.permission = 'granted'); }
        constructor(title) { note(title); globalThis.shown = this; }
        close() {}
      };
      const { createOscillator } = AudioContext.prototype;
      AudioContext.prototype.createOscillator = function () {
        note('tone');
        return createOscillator.call(this);
      };
    `);
    return alerted;
  }

  it('notifies once for three tabs, with a sound, only while asked to, and leads to the conversation', async () => {
    const { page } = await team.open();
    const alerted = await recordAlerts(page.context());
    await signIn(page, team.service.url);
    await answer(await askForPerson('Before'));
    const alerts = page.getByRole('button', { name: 'Notify me' });
    expect(await alerts.getAttribute('aria-pressed')).toBe('false');
    expect(alerted).toEqual([]);
    const waiting = await askForPerson('Waits already');
    await row(page, 'Waits already').getByText('Waiting').waitFor();
    await alerts.click();
    await page.getByText('This browser tells you').waitFor();
    expect(await alerts.getAttribute('aria-pressed')).toBe('true');
    expect(alerted.splice(0)).toEqual(['tone', 'tone']);
    for (let tab = 2; tab <= 3; tab++)
      await (await page.context().newPage()).goto(`${team.service.url}/tools`);
    const id = await writeToNobody('Aisha');
    await waitFor('the notification', () => alerted.includes('Aisha is waiting for an answer'));
    // Long enough for the other two tabs.
    await page.waitForTimeout(2000);
    expect(alerted.toSorted()).toEqual(['Aisha is waiting for an answer', 'tone', 'tone']);
    await page.evaluate('globalThis.shown.onclick()');
    await page.waitForURL(`**/conversations/${id}`);
    alerted.length = 0;
    await page.goto(`${team.service.url}/conversations`);
    await alerts.click();
    await askForPerson('Unheard');
    await row(page, 'Unheard').getByText('Waiting').waitFor();
    await page.waitForTimeout(1000);
    expect(alerted).toEqual([]);
    for (const each of [waiting, id]) await answer(each);
  });

  it('notifies from another tab where the request of the first one fails', async () => {
    const { page, allowErrors } = await team.open();
    allowErrors(/503/);
    const alerted = await recordAlerts(page.context());
    await signIn(page, team.service.url);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByText('This browser tells you').waitFor();
    await (await page.context().newPage()).goto(`${team.service.url}/tools`);
    const fail = (route: Route) => route.fulfill({ status: 503 });
    await page.context().route('**/conversations/alerts', fail, { times: 1 });
    const id = await writeToNobody('Bilal');
    await waitFor('the notification', () => alerted.includes('Bilal is waiting for an answer'));
    await answer(id);
  });

  it('says that notifications stay off where the browser stores nothing', async () => {
    const { page, context } = await team.open();
    await blockStorage(context);
    await signIn(page, team.service.url);
    const alerts = page.getByRole('button', { name: 'Notify me' });
    await alerts.click();
    await page.getByText('so notifications stay off').waitFor();
    expect(await alerts.getAttribute('aria-pressed')).toBe('false');
  });

  it('notifies although storage is full', async () => {
    const { page } = await team.open();
    const alerted = await recordAlerts(page.context());
    await signIn(page, team.service.url);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByText('This browser tells you').waitFor();
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('Storage is full.', 'QuotaExceededError');
      };
    });
    const id = await writeToNobody('Chen');
    await waitFor('the notification', () => alerted.includes('Chen is waiting for an answer'));
    await answer(id);
  });

  it('tells a member who is assigned a conversation, which is then listed as theirs', async () => {
    const { path } = await startConversation('Clara', 'Which maps do you have?');
    const { page: ben } = await team.openSignedIn('/conversations?tab=mine', {}, BEN);
    await ben.getByText('You have no conversations.').waitFor();
    const { page: ana } = await team.openSignedIn(path);
    await ana.getByLabel('Assigned to', { exact: true }).last().selectOption('Ben');
    await ana.getByRole('button', { name: 'Assign', exact: true }).click();
    await ana.getByText('ana assigned this to Ben').waitFor();
    await row(ana, 'Clara').getByText('Assigned to Ben').waitFor();
    await ben.getByText('ana assigned the conversation with Clara to you.').waitFor();
    await row(ben, 'Clara').getByText('Assigned to you').waitFor();
    await ben.getByRole('link', { name: /^Mine 1/ }).waitFor();
    await ben.getByRole('status').getByRole('link', { name: 'Open' }).click();
    await ben.getByRole('article').getByText('Which maps').waitFor();
    await ana.getByRole('button', { name: 'Assign to me' }).click();
    await ana.getByText('ana assigned this to themselves').waitFor();
    await ben.goto(`${team.service.url}/conversations?tab=mine`);
    await ben.getByText('You have no conversations.').waitFor();
    await ana.getByLabel('Assigned to', { exact: true }).last().selectOption('Nobody');
    await ana.getByRole('button', { name: 'Assign', exact: true }).click();
    await ana.getByText('ana unassigned themselves').waitFor();
  });

  it('tells of an assignment once, and not again on the pages that follow', async () => {
    const { customer, path } = await startConversation('Dora');
    const { page: ben } = await team.openSignedIn('/conversations', {}, BEN);
    const { page: ana } = await team.openSignedIn(path);
    await ana.getByLabel('Assigned to', { exact: true }).last().selectOption('Ben');
    await ana.getByRole('button', { name: 'Assign', exact: true }).click();
    await ben.getByText('ana assigned the conversation with Dora to you.').waitFor();
    const fetched: string[] = [];
    ben.on('request', (request) => void fetched.push(new URL(request.url()).pathname));
    await ben.getByRole('link', { name: /^Mine/ }).click();
    await ben.waitForURL(/tab=mine/);
    await customer.write('And how large are they?');
    await row(ben, 'Dora').getByText('how large').waitFor();
    expect(fetched).toContain('/conversations/list');
    expect(fetched).not.toContain(`${path}/assignment`);
  });

  it('has one row above the messages on a phone, with the rarer actions behind a button', async () => {
    const longName = 'Maximiliana Alexandrovna Featherstonehaugh-Cholmondeley';
    const { customer, id, path } = await startConversation(longName, 'Hello');
    // A person has the conversation, so the agent writes nothing in between.
    await answer(id);
    await customer.write('Is anybody there?');
    await customer.write('I have a question.');
    const { page, axe } = await team.openSignedIn(path, { width: 375, height: 700 });
    await team.openSignedIn(path, {}, BEN);
    await page.locator('#presence .avatar').waitFor();
    const head = await page.locator('#thread-head').boundingBox();
    expect(head!.height).toBeLessThan(64);
    // Of two messages in a row, only the first bears the name.
    const areNamesShown = await page
      .locator('.from-customer .who')
      .evaluateAll((names) => names.map((name) => name.closest('header')!.clientWidth > 1));
    expect(areNamesShown.slice(-2)).toEqual([true, false]);
    await page.getByText('Contact and history').click();
    await page.getByRole('button', { name: 'Assign to me' }).waitFor();
    await page.getByText('Contact and history').click();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('button', { name: 'Close…' }).waitFor();
    // A change that arrives now does not close the menu.
    await customer.write('Hello?');
    await page.getByRole('article').getByText('Hello?').waitFor();
    await page.getByRole('button', { name: 'Close…' }).waitFor();
    expect(await axe()).toEqual([]);
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('ana took over').waitFor();
  });
});
