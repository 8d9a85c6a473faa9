// How a team hears of work: counts, notifications, and what somebody is given.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { chatCustomer } from '../helpers/apiClient.ts';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { blockStorage } from './browser.ts';
import { BEN, signIn, startTeam, type Team } from './team.ts';

describe('what a team hears of', () => {
  let team: Team;

  beforeAll(async () => {
    team = await startTeam();
    await team.service.api.patch('/api/agent', { enabled: true });
    await teamOfTwo(team.service);
  });
  afterEach(() => team.closeWindows());
  afterAll(() => team?.close());

  /** Somebody who waits for a person. */
  async function askForPerson(name: string): Promise<string> {
    const customer = await chatCustomer(team.service.url, { name });
    const { conversation_id: id } = await customer.write('Can I talk to a person, please?');
    await waitFor('the hand-over', async () => {
      const { body } = await team.service.api.get(`/api/conversations/${id}`);
      return body.status === 'awaiting_human';
    });
    return id;
  }
  /** Somebody who writes while the agent is off. */
  async function writeToNobody(name: string): Promise<string> {
    await team.service.api.patch('/api/agent', { enabled: false });
    const customer = await chatCustomer(team.service.url, { name });
    const { conversation_id: id } = await customer.write('Is anybody there?');
    await team.service.api.patch('/api/agent', { enabled: true });
    return id;
  }
  const answer = (id: string) =>
    team.service.api.post(`/api/conversations/${id}/messages`, { text: 'Here I am.' });
  const titled = (page: Page, title: RegExp) =>
    waitFor('the title', async () => title.test(await page.title()));
  const row = (page: Page, name: string) => page.locator('a.item', { hasText: name });

  it('counts who waits for an answer in the navigation and in the title, with the page and live', async () => {
    const { page } = await team.openSignedIn('/tools');
    const fetched: string[] = [];
    page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
    const id = await askForPerson('Counted');
    const count = page.locator('#conversations-count');
    await count.getByText('1', { exact: true }).waitFor();
    await titled(page, /^\(1\) Tools/);
    fetched.length = 0;
    await page.goto(`${team.service.url}/payments`);
    expect(await count.innerText()).toBe('1');
    expect(await page.title()).toMatch(/^\(1\) Payments/);
    // Long enough for what would be fetched after the load.
    await page.waitForTimeout(1000);
    expect(fetched.filter((path) => path.endsWith('/count'))).toEqual([]);
    await answer(id);
    await titled(page, /^Payments/);
    expect(await count.innerText()).toBe('');
  });

  /** Writes down what the browser would show and sound. */
  async function record(context: BrowserContext): Promise<string[]> {
    const noted: string[] = [];
    await context.exposeBinding('note', (_source, what: string) => void noted.push(what));
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
    return noted;
  }

  it('notifies once for three tabs with a sound, when asked to, and leads to the conversation', async () => {
    const { page } = await team.open();
    const noted = await record(page.context());
    await signIn(page, team.service.url);
    await answer(await askForPerson('Before'));
    const alerts = page.getByRole('button', { name: 'Notify me' });
    expect(await alerts.getAttribute('aria-pressed')).toBe('false');
    expect(noted).toEqual([]);
    const waiting = await askForPerson('Waits already');
    await row(page, 'Waits already').getByText('Waiting').waitFor();
    await alerts.click();
    await page.getByText('This browser tells you').waitFor();
    expect(await alerts.getAttribute('aria-pressed')).toBe('true');
    expect(noted.splice(0)).toEqual(['tone', 'tone']);
    for (let tab = 2; tab <= 3; tab++)
      await (await page.context().newPage()).goto(`${team.service.url}/tools`);
    const id = await writeToNobody('Aisha');
    await waitFor('the notification', () => noted.includes('Aisha is waiting for an answer'));
    // Long enough for the other two.
    await page.waitForTimeout(2000);
    expect(noted.toSorted()).toEqual(['Aisha is waiting for an answer', 'tone', 'tone']);
    await page.evaluate('globalThis.shown.onclick()');
    await page.waitForURL(`**/conversations/${id}`);
    noted.length = 0;
    await page.goto(`${team.service.url}/conversations`);
    await alerts.click();
    await askForPerson('Unheard');
    await row(page, 'Unheard').getByText('Waiting').waitFor();
    await page.waitForTimeout(1000);
    expect(noted).toEqual([]);
    for (const each of [waiting, id]) await answer(each);
  });

  it('notifies from another tab where the first one got no answer', async () => {
    const { page, allowErrors } = await team.open();
    allowErrors(/503/);
    const noted = await record(page.context());
    await signIn(page, team.service.url);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByText('This browser tells you').waitFor();
    await (await page.context().newPage()).goto(`${team.service.url}/tools`);
    const fail = (route: Route) => route.fulfill({ status: 503 });
    await page.context().route('**/conversations/alerts', fail, { times: 1 });
    const id = await writeToNobody('Bilal');
    await waitFor('the notification', () => noted.includes('Bilal is waiting for an answer'));
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
    const noted = await record(page.context());
    await signIn(page, team.service.url);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByText('This browser tells you').waitFor();
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('Storage is full.', 'QuotaExceededError');
      };
    });
    const id = await writeToNobody('Chen');
    await waitFor('the notification', () => noted.includes('Chen is waiting for an answer'));
    await answer(id);
  });

  it('tells who is assigned a conversation, which is then one of theirs and bears their picture', async () => {
    const customer = await chatCustomer(team.service.url, { name: 'Clara' });
    const { conversation_id: id } = await customer.write('Which maps do you have?');
    const { page: ben } = await team.openSignedIn('/conversations?tab=mine', {}, BEN);
    await ben.getByText('You have no conversations.').waitFor();
    const { page: ana } = await team.openSignedIn(`/conversations/${id}`);
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
    const customer = await chatCustomer(team.service.url, { name: 'Dora' });
    const { conversation_id: id } = await customer.write('Which maps do you have?');
    const { page: ben } = await team.openSignedIn('/conversations', {}, BEN);
    const { page: ana } = await team.openSignedIn(`/conversations/${id}`);
    await ana.getByLabel('Assigned to', { exact: true }).last().selectOption('Ben');
    await ana.getByRole('button', { name: 'Assign', exact: true }).click();
    await ben.getByText('ana assigned the conversation with Dora to you.').waitFor();
    const asked: string[] = [];
    ben.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    await ben.getByRole('link', { name: /^Mine/ }).click();
    await ben.waitForURL(/tab=mine/);
    await customer.write('And how large are they?');
    await row(ben, 'Dora').getByText('how large').waitFor();
    expect(asked).toContain('/conversations/list');
    expect(asked).not.toContain(`/conversations/${id}/assignment`);
  });

  it('has one row above the messages on a phone, with what is done less often behind a button', async () => {
    const customer = await chatCustomer(team.service.url, {
      name: 'Maximiliana Alexandrovna Featherstonehaugh-Cholmondeley',
    });
    const { conversation_id: id } = await customer.write('Hello');
    // The agent writes nothing between what follows.
    await answer(id);
    await customer.write('Is anybody there?');
    await customer.write('I have a question.');
    const path = `/conversations/${id}`;
    const { page, axe } = await team.openSignedIn(path, { width: 375, height: 700 });
    await team.openSignedIn(path, {}, BEN);
    await page.locator('#presence .avatar').waitFor();
    const head = await page.locator('#thread-head').boundingBox();
    expect(head!.height).toBeLessThan(64);
    const names = page.locator('.from-customer .who');
    const widths = await names.evaluateAll((all) =>
      all.map((each) => each.closest('header')!.clientWidth > 1),
    );
    expect(widths.slice(-2)).toEqual([true, false]);
    await page.getByText('Contact and history').click();
    await page.getByRole('button', { name: 'Assign to me' }).waitFor();
    await page.getByText('Contact and history').click();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('button', { name: 'Close…' }).waitFor();
    // A change that comes now does not shut it.
    await customer.write('Hello?');
    await page.getByRole('article').getByText('Hello?').waitFor();
    await page.getByRole('button', { name: 'Close…' }).waitFor();
    expect(await axe()).toEqual([]);
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('ana took over').waitFor();
  });
});
