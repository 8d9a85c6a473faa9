// The team decides in the browser what workflows ask: by keyboard, live, and not by accident.
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { BrowserWindow } from './browser.ts';
import { startConversation } from './customers.ts';
import { team, useTeam } from './team.ts';

describe('questions of workflows to the team', () => {
  useTeam();
  let window: BrowserWindow;
  let page: Page;

  beforeEach(async () => {
    window = await team.openSignedIn('/settings');
    page = window.page;
  });

  let executions = 0;
  const ask = async (wait: object): Promise<string> => {
    const { body } = await team.service.api.post('/api/waits', {
      kind: 'decision',
      resume_url: `${team.endpoint.url}/webhook-waiting/${++executions}`,
      ...wait,
    });
    return body.id;
  };
  const waitOf = async (id: string) => (await team.service.api.get(`/api/waits/${id}`)).body;
  const waitForCount = (text: string) =>
    page
      .locator('#waiting-count')
      .and(page.getByText(text, { exact: true }))
      .waitFor();

  it('are counted live in the navigation, also after going to another page', async () => {
    const [first, second] = [await ask({ message: 'One?' }), await ask({ message: 'Two?' })];
    await waitForCount('2');
    expect(await window.axe()).toEqual([]);
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    await waitForCount('2');
    await team.service.api.post(`/api/waits/${first}/decide`, { approved: true });
    await waitForCount('1');
    await page.getByRole('link', { name: /^Decisions/ }).click();
    await page.getByText('Two?').first().waitFor();
    await team.service.api.post(`/api/waits/${second}/decide`, { approved: false });
    await page.getByText('Nothing waits for a decision.').waitFor();
    expect(await page.locator('#waiting-count').innerText()).toBe('');
  });

  it('are decided by keyboard alone, with a half-written note that live changes keep', async () => {
    const { customer, id: conversationId, path } = await startConversation('Clara');
    await page.goto(team.service.url + path);
    const id = await ask({
      message: 'Refund 49 EUR?',
      details: { order: 'A-1042' },
      conversation_id: conversationId,
    });
    const note = page.getByLabel('Note, for your team and the workflow');
    await note.focus();
    await page.keyboard.type('Within');
    await customer.write('Still there?');
    await page.getByRole('article').getByText('Still there?').waitFor();
    await note.focus();
    await page.keyboard.press('End');
    await page.keyboard.type(' 30 days');
    // Enter in a note decides nothing.
    await page.keyboard.press('Enter');
    expect(await note.inputValue()).toBe('Within 30 days\n');
    expect((await waitOf(id)).status).toBe('open');
    expect(await window.axe()).toEqual([]);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Rejected by ana').waitFor();
    expect(await waitOf(id)).toMatchObject({
      status: 'rejected',
      decision: { note: 'Within 30 days', by: { name: 'ana' } },
    });
    expect(await window.axe()).toEqual([]);
  });

  it('are decided under Decisions, and their own page shows the decision and each call to the workflow', async () => {
    const id = await ask({ message: 'Publish the list?', approve_label: 'Publish' });
    await page.getByRole('link', { name: /^Decisions/ }).click();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('heading', { name: 'Questions that have ended' }).waitFor();
    await page.getByRole('link', { name: 'Publish the list?' }).click();
    await page.getByText('Approved by ana').waitFor();
    await page
      .getByRole('row', { name: /but the wait was not collected|answered/ })
      .first()
      .waitFor();
    expect(await window.axe()).toEqual([]);
    expect((await waitOf(id)).status).toBe('approved');
  });
});
