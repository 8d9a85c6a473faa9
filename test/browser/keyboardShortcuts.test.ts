// What each shortcut of the inbox does, and when it does nothing.
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { DefinedTool } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { blockStorage } from './browser.ts';
import { team, useTeam } from './team.ts';
import {
  customerWaitingForApproval,
  customerWaitingForPerson,
  startAgent,
  startConversation,
} from './customers.ts';

describe('the shortcuts of the inbox', () => {
  useTeam();
  let tool: DefinedTool;
  let first: string;
  beforeAll(async () => {
    tool = await startAgent();
    first = (await customerWaitingForPerson({ name: 'Ada' })).id;
    for (const name of ['Bea', 'Cy']) await customerWaitingForPerson({ name });
  });

  const press = async (page: Page, ...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const waitForFocus = (page: Page, selector: string) =>
    page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector);
  const waitForFocusOnRow = (page: Page, name: string) =>
    page.waitForFunction(
      (wanted) => document.activeElement?.querySelector('.who')?.textContent === wanted,
      name,
    );
  const waitUntilOpen = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();
  const toggle = (page: Page) => page.getByLabel('Single-key shortcuts');
  const openWaitingList = () => team.openSignedIn('/conversations?tab=waiting');

  it('j and k move, Enter opens a conversation and focuses its thread, Escape leaves step by step', async () => {
    const { page } = await openWaitingList();
    await press(page, 'j');
    await waitForFocusOnRow(page, 'Ada');
    await press(page, 'j', 'j', 'k');
    await waitForFocusOnRow(page, 'Bea');
    await press(page, 'Enter');
    await waitUntilOpen(page, 'Bea');
    await waitForFocus(page, '#thread');
    await press(page, 'j');
    await waitForFocusOnRow(page, 'Cy');
    await press(page, 'k', 'Enter');
    await waitForFocus(page, '#thread');
    await press(page, 'e');
    await waitForFocus(page, '#f-verdict');
    await press(page, 'Escape');
    await page.getByLabel('Your reply').waitFor();
    await waitForFocus(page, '#thread');
    await press(page, 'r');
    await waitForFocus(page, '#f-text');
    await press(page, 'Escape');
    await waitForFocus(page, '#thread');
    await press(page, 'Escape');
    await waitForFocusOnRow(page, 'Bea');
    await press(page, 'Escape');
    await page.getByText('Select a conversation to read it.').waitFor();
    await waitForFocusOnRow(page, 'Bea');
  });

  it.each([
    ['r', '#f-text'],
    ['n', '#f-note'],
    ['a', '#assignee'],
    ['e', '#f-verdict'],
  ])('%s acts on the focused row, and in the open conversation', async (key, field) => {
    const { page } = await openWaitingList();
    await press(page, 'j', 'j', key);
    await waitUntilOpen(page, 'Bea');
    await waitForFocus(page, field);
    await page.goto(page.url().replace('/close', ''));
    await waitUntilOpen(page, 'Bea');
    await press(page, key);
    await waitForFocus(page, field);
  });

  it('a unfolds the panel of the contact', async () => {
    const { page } = await team.openSignedIn(`/conversations/${first}`, { width: 900 });
    expect(await page.locator('#assignee').isVisible()).toBe(false);
    await press(page, 'a');
    await waitForFocus(page, '#assignee');
    expect(await page.locator('#assignee').isVisible()).toBe(true);
  });

  it('w goes through the customers who wait, and p to what waits for a decision', async () => {
    const { id } = await customerWaitingForApproval(tool, { name: 'Tom' });
    const { page } = await team.openSignedIn('/conversations');
    for (const name of ['Ada', 'Bea', 'Cy', 'Ada']) {
      await press(page, 'w');
      await waitUntilOpen(page, name);
    }
    await press(page, 'p');
    await waitUntilOpen(page, 'Tom');
    await waitForFocus(page, '.approval.waiting');
    // A half-written reason stays when the thread loads again, and after a reload.
    const reason = page.getByLabel('Reason, for your team and the agent');
    await press(page, 'Tab', 'Tab', 'Tab');
    await page.keyboard.type('jerk, not a request');
    await team.service.api.post(`/api/conversations/${id}/messages`, { text: 'A moment, please.' });
    await page.getByRole('article').getByText('A moment, please.').waitFor();
    expect(await reason.inputValue()).toBe('jerk, not a request');
    await page.reload();
    expect(await reason.inputValue()).toBe('jerk, not a request');
    const [approve, reject] = await Promise.all(
      ['Approve Cancel order', 'Reject Cancel order'].map((name) =>
        page.getByRole('button', { name }).boundingBox(),
      ),
    );
    expect([reject!.width, reject!.height, reject!.y]).toEqual([
      approve!.width,
      approve!.height,
      approve!.y,
    ]);
    await page.getByRole('button', { name: 'Reject Cancel order' }).press('Enter');
    await page.getByText('Rejected by ana').waitFor();
  });

  it('do nothing while somebody types, with a modifier, or on other pages', async () => {
    const { page } = await openWaitingList();
    await press(page, 'Control+j', 'Alt+j', 'Meta+j', 'Shift+J');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
    await press(page, '/');
    await waitForFocus(page, '#search');
    await page.keyboard.type('jkrea?');
    expect(await page.getByRole('searchbox').inputValue()).toBe('jkrea?');
    await page.goto(`${team.service.url}/tools`);
    let asksForNextWaiting = false;
    page.on('request', (request) => {
      asksForNextWaiting ||= request.url().includes('/conversations/next-waiting');
    });
    await press(page, 'w', 'j', '?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(asksForNextWaiting).toBe(false);
  });

  it('? lists them; they can be switched off, and are announced only while they are on', async () => {
    const window = await openWaitingList();
    const { page } = window;
    const search = page.getByRole('searchbox');
    expect(await search.getAttribute('aria-keyshortcuts')).toBe('/');
    await press(page, '?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.waitFor();
    expect([await window.axe(), await window.overflow()]).toEqual([[], []]);
    await window.screenshot('shortcuts');
    // The page behind the dialog ignores the keys.
    await press(page, 'j', 'w');
    await dialog.waitFor();
    await toggle(page).press('Space');
    await press(page, 'Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await search.getAttribute('aria-keyshortcuts')).toBeNull();
    await page.reload();
    await press(page, 'w', '?', 'j');
    expect(await dialog.isVisible()).toBe(false);
    await page.getByText('Select a conversation to read it.').waitFor();
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).press('Enter');
    await toggle(page).press('Space');
    await press(page, 'Escape', 'j');
    await waitForFocusOnRow(page, 'Ada');
    await page.setViewportSize({ width: 375, height: 740 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).press('Enter');
    await dialog.waitFor();
    expect([await window.axe(), await window.overflow()]).toEqual([[], []]);
  });

  it('can be switched off for as long as the page is open where the browser stores nothing', async () => {
    const { page, context } = await openWaitingList();
    await blockStorage(context);
    await page.reload();
    await press(page, '?');
    await toggle(page).press('Space');
    await press(page, 'Escape', 'j', '?');
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).press('Enter');
    expect(await toggle(page).isChecked()).toBe(false);
    await toggle(page).press('Space');
    await press(page, 'Escape', 'j');
    await waitForFocusOnRow(page, 'Ada');
  });

  describe('pressed while a page is loading, are for that page', () => {
    const openSlowly = async (pages: string) => {
      const { page } = await openWaitingList();
      await page.route(pages, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 800));
        await route.continue();
      });
      return page;
    };
    const messagesOf = async (id: string) =>
      (await team.service.api.get(`/api/conversations/${id}/messages`)).body.data;

    it('with what is typed there', async () => {
      const page = await openSlowly('**/conversations/next-waiting*');
      await press(page, 'w', 'r');
      await page.keyboard.type('We replz');
      await press(page, 'Backspace', 'y', 'Enter');
      await page.keyboard.type('early.');
      await press(page, 'Control+Enter', 'Escape', 'w');
      await waitUntilOpen(page, 'Bea');
      await waitForFocus(page, '#thread');
      expect((await messagesOf(first)).at(-1).text).toBe('We reply\nearly.');
    });

    it('and no other key with Ctrl than Enter sends a reply', async () => {
      const { id } = await customerWaitingForPerson({ name: 'Ash' });
      const page = await openSlowly(`**/conversations/${id}*`);
      await page.getByRole('link', { name: /^Ash/ }).focus();
      await press(page, 'r');
      await page.keyboard.type('half a ');
      await press(page, 'Control+Escape');
      await waitForFocus(page, '#f-text');
      await page.keyboard.type('sentence');
      await press(page, 'Control+Enter');
      await page.getByRole('article').getByText('sentence').waitFor();
      expect((await messagesOf(id)).at(-1).text).toBe('half a sentence');
    });

    it('and Tab goes from field to field there', async () => {
      const { id } = await customerWaitingForPerson({ name: 'Cat' });
      const page = await openSlowly(`**/conversations/${id}/close*`);
      await page.getByRole('link', { name: /^Cat/ }).focus();
      await press(page, 'e', 'g', 'Tab');
      await page.keyboard.type('Repaired.');
      await press(page, 'Control+Enter');
      await page.getByText('Conversation closed.').waitFor();
      const { outcome } = (await team.service.api.get(`/api/conversations/${id}`)).body;
      expect(outcome.summary).toBe('Repaired.');
    });

    it('and the beginning of a name assigns to that member', async () => {
      const { id } = await customerWaitingForPerson({ name: 'Bo' });
      const page = await openSlowly(`**/conversations/${id}*`);
      await page.getByRole('link', { name: /^Bo/ }).focus();
      await press(page, 'a', 'a', 'n', 'Enter');
      await waitFor('the assignment', async () => {
        const { assignee } = (await team.service.api.get(`/api/conversations/${id}`)).body;
        return assignee?.name === 'ana';
      });
    });
  });

  it('Escape and r leave a payment form, and what is entered there stays', async () => {
    await team.service.api.put('/api/payment-accounts/manual', {
      settings: { instructions: 'Pay.' },
    });
    const path = `/conversations/${first}/payment-link`;
    for (const key of ['Escape', 'r']) {
      const { page } = await team.openSignedIn(path);
      await page.getByLabel('Amount').fill('49');
      await press(page, 'Escape');
      if (key === 'r') await press(page, 'r');
      await page.getByLabel('Your reply').waitFor();
      await page.goto(team.service.url + path);
      expect(await page.getByLabel('Amount').inputValue()).toBe('49');
      await team.closeWindows();
    }
  });

  it('leave the focus on its row, or on the next one when a colleague answers that row', async () => {
    const { customer, id } = await customerWaitingForPerson({ name: 'Dot' });
    await customerWaitingForPerson({ name: 'Eve' });
    const { page } = await openWaitingList();
    await page.getByRole('link', { name: /^Dot/ }).focus();
    await customer.write('Still here.');
    await page.getByRole('link', { name: /^Dot/ }).getByText('Still here.').waitFor();
    await waitForFocusOnRow(page, 'Dot');
    await team.service.api.post(`/api/conversations/${id}/messages`, { text: 'I am here.' });
    await waitForFocusOnRow(page, 'Eve');
    await startConversation('Fay', 'Can I talk to a person?');
    await page.getByRole('link', { name: /^Fay/ }).waitFor();
    await press(page, 'j');
    await waitForFocusOnRow(page, 'Fay');
  });
});
