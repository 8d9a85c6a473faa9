import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { MEMBER } from '../helpers/browserless.ts';
import { agentSays, callIn, type DefinedTool } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { BrowserWindow } from './browser.ts';
import { team, useTeam } from './team.ts';
import { customerWaitingForApproval, startAgent, startConversation } from './customers.ts';

const MAX_TABS = 120;

describe('by keyboard alone', () => {
  useTeam();
  let window: BrowserWindow;
  let page: Page;
  let tool: DefinedTool;

  beforeAll(async () => {
    tool = await startAgent();
  });
  beforeEach(async () => {
    window = await team.openSignedIn('/conversations');
    page = window.page;
  });

  const press = (key: string) => page.keyboard.press(key);

  /** What has the focus, by the name that a screen reader says. */
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      if (element === document.body) return 'nothing';
      const label = (element as HTMLInputElement).labels?.[0]?.textContent;
      const exposed = element.cloneNode(true) as HTMLElement;
      for (const hidden of exposed.querySelectorAll('[aria-hidden="true"]')) hidden.remove();
      return (element.getAttribute('aria-label') ?? label ?? exposed.textContent ?? '')
        .replace(/\s+/g, ' ')
        .trim();
    });

  /** Moves the focus to the next stop, where it must be visible. */
  async function tab(key = 'Tab') {
    await press(key);
    const unseen = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      if (element === document.body) return null; // past the last stop of the page
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      const { width, height, left, top, right, bottom } = element.getBoundingClientRect();
      const isMarked =
        (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
      const overlapsWindow = left < innerWidth && right > 0 && top < innerHeight && bottom > 0;
      const isInView = width > 0 && height > 0 && overlapsWindow;
      return isMarked && isInView
        ? null
        : `${element.outerHTML.slice(0, 200)} ${JSON.stringify({ outlineStyle, outlineWidth, boxShadow, width, height, left, top })}`;
    });
    if (unseen !== null) throw new Error(`The focus cannot be seen on ${unseen}`);
  }

  const isNamed = (wanted: string | RegExp, name: string) =>
    typeof wanted === 'string' ? name === wanted : wanted.test(name);

  /** Presses Tab until what has this name has the focus. */
  async function tabTo(name: string | RegExp, key = 'Tab') {
    const passed: string[] = [];
    for (let n = 0; n < MAX_TABS; n++) {
      await tab(key);
      const now = await focused();
      if (isNamed(name, now)) return;
      passed.push(now);
    }
    throw new Error(`${String(name)} is not reached; passed: ${passed.join(' | ')}`);
  }

  const waitForFocus = (name: string | RegExp) =>
    waitFor(`the focus on ${String(name)}`, async () => isNamed(name, await focused()));

  const waitForFocusOnContent = () =>
    page.waitForFunction(() => document.activeElement?.id === 'main');

  it('a member signs in', async () => {
    ({ page } = await team.open());
    await page.goto(`${team.service.url}/conversations`);
    await page.getByLabel('Email').waitFor();
    // The email field has the focus.
    await page.keyboard.type(MEMBER.email);
    await tab();
    await page.keyboard.type(MEMBER.password);
    await press('Enter');
    await page.getByRole('heading', { name: 'Conversations' }).waitFor();
  });

  it('a conversation is opened, taken over, answered with Ctrl+Enter and closed', async () => {
    const { customer } = await startConversation('Clara', 'Do you repair tents?');
    await page.getByRole('link', { name: /Clara/ }).waitFor();
    await tabTo(/^Clara/);
    await press('Enter');
    await page.getByRole('article').getByText('Do you repair tents?').waitFor();
    await tabTo('Take over');
    await press('Enter');
    await page.getByText('ana took over').waitFor();
    await tabTo('Your reply');
    await page.keyboard.type('Yes, we do.');
    await press('Enter');
    await page.keyboard.type('Bring it by.');
    await press('Control+Enter');
    await page.getByRole('article').getByText('Bring it by.').waitFor();
    expect((await customer.read()).at(-1).text).toBe('Yes, we do.\nBring it by.');
    await tabTo('Close…');
    await press('Enter');
    await page.getByRole('heading', { name: 'Close this conversation' }).waitFor();
    await tabTo('Outcome');
    await page.keyboard.type('Goal r');
    await tabTo('Summary');
    await page.keyboard.type('Will be repaired.');
    await tabTo('Close conversation');
    await press('Enter');
    await page.getByText('Conversation closed.').waitFor();
    await page.getByText('Goal reached').first().waitFor();
  });

  it('an approval is decided', async () => {
    const { id } = await customerWaitingForApproval(tool, { name: 'Tom' });
    await page.getByRole('link', { name: '1 approval is waiting for your decision' }).waitFor();
    await tabTo('1 approval is waiting for your decision');
    await press('Enter');
    await page.getByRole('region', { name: 'Approvals' }).waitFor();
    await tabTo(/^Tom/);
    await press('Enter');
    await page.getByRole('article', { name: 'Approval of Cancel order' }).waitFor();
    await tabTo(/^Reason, for your team and the agent/);
    await tabTo('Reject Cancel order', 'Shift+Tab');
    await tabTo('Approve Cancel order', 'Shift+Tab');
    await press('Enter');
    await page.getByText('Approved by ana').waitFor();
    await callIn(team.service.api, `conversation_id=${id}`, 'succeeded');
  });

  it('a key is created and revoked', async () => {
    page.on('dialog', (dialog) => void dialog.accept());
    await tabTo('Keys and subscriptions');
    await press('Enter');
    await page.getByRole('heading', { name: 'Keys and subscriptions' }).waitFor();
    await tabTo('Create an API key');
    await press('Enter');
    await tabTo('Name');
    await page.keyboard.type('Website');
    await press('Enter');
    await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
    await tabTo('Copy the secret');
    await tabTo(/^Revoke the key Website/);
    await press('Enter');
    await page.getByText('API key revoked.').waitFor();
  });

  it('one stop leads past the navigation', async () => {
    await tab();
    expect(await focused()).toBe('Skip to content');
    await press('Enter');
    await tab();
    expect(await focused()).toMatch(/^Search by name/);
  });

  it('the focus is on the content after htmx has loaded a page', async () => {
    await tabTo('Tools');
    await press('Enter');
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    await waitForFocusOnContent();
    await tabTo('New tool');
    await press('Enter');
    await page.getByRole('heading', { name: 'New tool' }).waitFor();
    await waitForFocusOnContent();
  });

  it('the focus stays when a live update replaces that part of the page', async () => {
    const { customer, path } = await startConversation('Delia');
    await agentSays(customer);
    await page.getByRole('link', { name: /Delia/ }).waitFor();
    await tabTo(/^Delia/);
    await customer.write('Two');
    await page.getByRole('link', { name: /Delia/ }).getByText('2 unread').waitFor();
    expect(await focused()).toMatch(/^Delia/);
    await page.goto(team.service.url + path);
    await tabTo('Take over');
    await customer.write('Three');
    await page.getByRole('article').getByText('Three').waitFor();
    expect(await focused()).toBe('Take over');
    await page.goto(`${team.service.url}/keys`);
    await tabTo(/^Revoke the key/);
    const before = await focused();
    await team.service.api.post('/api/hooks', {
      event: 'message.sent',
      target_url: `${team.endpoint.url}/live`,
      source: 'n8n',
    });
    await page.getByText('1 of 25').waitFor();
    expect(await focused()).toBe(before);
    await page.goto(`${team.service.url}/tools`);
    await tabTo('cancel_order');
    await team.endpoint.define(team.service.api, { name: 'another_tool' });
    await page.getByRole('link', { name: 'another_tool' }).waitFor();
    expect(await focused()).toBe('cancel_order');
  });

  it('the first field to correct has the focus', async () => {
    window.allowErrors(/400/);
    await page.goto(`${team.service.url}/tools/new`);
    await page.getByLabel('Name', { exact: true }).first().fill('Not A Name');
    await page.getByLabel('Description').first().fill('x');
    await page.getByLabel('Name', { exact: true }).first().press('Enter');
    await waitForFocus('Name');
  });
});
