// The agent's page while a workflow is the agent: it shows what happens without a reload.
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { OWNER, ownerQuery } from '../service/agent/webhook/workflowStage.ts';
import type { BrowserWindow } from './browser.ts';
import { startConversation } from './customers.ts';
import { expectNoReload, markPage, team, useTeam } from './team.ts';

const query = ownerQuery();

describe('a workflow as the agent, on the page', () => {
  useTeam();
  let window: BrowserWindow;
  let page: Page;
  beforeEach(async () => {
    window = await team.openSignedIn('/agent');
    ({ page } = window);
    page.on('dialog', (dialog) => void dialog.accept());
    await markPage(page);
  });

  /** Wide and narrow, light and dark: axe finds nothing, and nothing reaches beyond the edge. */
  async function expectFit() {
    const faults: string[] = [];
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 900 });
      faults.push(...(await window.axeLightAndDark()), ...(await window.overflow()));
    }
    expect(faults).toEqual([]);
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const publish = () =>
    team.service.api.put('/api/agent/webhook', {
      endpoint: `${team.endpoint.url}/agent`,
      owner: OWNER,
      turn_on: true,
    });
  const waitUntilInUse = (agent: RegExp) =>
    page.getByRole('article', { name: agent }).getByText('in use').waitFor();

  it('tries a workflow in the editor before one was ever published', async () => {
    await team.service.api.put('/api/agent/test-webhook', {
      endpoint: `${team.endpoint.url}/test`,
      owner: OWNER,
    });
    await page.getByText('The n8n editor that listens').waitFor();
    await expectNoReload(page);
    team.endpoint.answer('/test', { json: { reply: ['It left today.', 'Anything else?'] } });
    await page.getByLabel('Customer message').fill('Where is my order A-1042?');
    await button('Try it').click();
    await page.getByRole('heading', { name: 'It would reply' }).waitFor();
    await page.getByText('Anything else?').waitFor();
    expect(team.endpoint.envelopes('/test')).toMatchObject([
      { is_test: true, chatInput: 'Where is my order A-1042?' },
    ]);
    await expectFit();
    await team.service.api.delete(`/api/agent/test-webhook?${query}`);
    await page.getByText('The n8n editor that listens').waitFor({ state: 'detached' });
  });

  it('shows the published workflow, its turns with their outcomes, and a link to the conversation', async () => {
    await publish();
    await waitUntilInUse(/Workflow/);
    team.endpoint.answer('/agent', { json: { reply: 'Hello from the workflow.' } });
    await startConversation('Aisha');
    const row = page.getByRole('row', { name: /Aisha/ });
    await row.getByText('replied').waitFor();
    await expectNoReload(page);
    await row.getByRole('link', { name: 'Aisha' }).click();
    await page.getByText('Hello from the workflow.', { exact: true }).waitFor();
    await page.getByText('From the workflow', { exact: true }).waitFor();
  });

  it('shows in words why a turn failed, here and in the conversation', async () => {
    await publish();
    team.endpoint.answer('/agent', { status: 500, json: { message: 'Error in workflow' } });
    await startConversation('Bao');
    const row = page.getByRole('row', { name: /Bao/ });
    await row.getByText('failed').waitFor();
    const problem = await row.locator('.problem').innerText();
    expect(problem).toContain('500');
    await expectFit();
    await row.getByRole('link', { name: 'Bao' }).click();
    await page.getByText(`it ran into an error (${problem})`).waitFor();
  });

  it('says at once that the workflow was unpublished, and another agent can be chosen by keyboard', async () => {
    await publish();
    await waitUntilInUse(/Workflow/);
    await team.service.api.delete(`/api/agent/webhook?${query}`);
    await page.getByText('No workflow is published as the agent.').waitFor();
    await expectFit();
    await button('Use the keyword agent').focus();
    await page.keyboard.press('Enter');
    await waitUntilInUse(/Keyword agent/);
    await page.getByText('No workflow is published as the agent.').waitFor({ state: 'detached' });
  });
});
