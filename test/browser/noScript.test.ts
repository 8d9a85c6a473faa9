import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { DefinedTool } from '../helpers/toolEndpoint.ts';
import { closeConversation, team, useTeam } from './team.ts';
import { customerWaitingForApproval, startAgent, startConversation } from './customers.ts';

describe('without JavaScript', () => {
  useTeam();
  let page: Page;
  let tool: DefinedTool;

  beforeAll(async () => {
    tool = await startAgent();
  });
  beforeEach(async () => {
    ({ page } = await team.openSignedIn('/conversations', {
      context: { javaScriptEnabled: false },
    }));
  });

  const button = (name: string | RegExp) => page.getByRole('button', { name });

  it('a member reads, takes over, replies, hands back, sets the stage and closes', async () => {
    const { customer } = await startConversation('Clara', 'Do you repair tents?');
    await page.reload();
    await page.getByRole('link', { name: /Clara.*unread/ }).click();
    await page.getByRole('article').getByText('Do you repair tents?').waitFor();
    await button('Take over').click();
    await page.getByText('ana took over').waitFor();
    await page.getByLabel('Your reply').fill('Yes.\nBring it by.');
    await button('Send').click();
    await page.getByRole('article').getByText('Bring it by.').waitFor();
    expect((await customer.read()).at(-1).text).toBe('Yes.\nBring it by.');
    await page.getByRole('combobox', { name: 'Stage' }).selectOption('Qualified');
    await button('Set the stage').click();
    await page.getByText('ana changed the stage from').waitFor();
    await button('Actions').click();
    await button('Hand back to the agent').click();
    await page.getByText('ana handed back to the agent').waitFor();
    await closeConversation(page, 'Goal reached', 'Repaired.');
    await page.getByText('Conversation closed.').waitFor();
    await page.getByRole('link', { name: 'Closed', exact: true }).click();
    await page.getByRole('link', { name: /Clara/ }).waitFor();
    await page.getByRole('searchbox').fill('nobody of this name');
    await button('Search').click();
    await page.getByText('No results for “nobody of this name”').waitFor();
  });

  it('a member rejects a tool call', async () => {
    await customerWaitingForApproval(tool, { name: 'Tom' });
    await page.reload();
    await page.getByRole('link', { name: '1 approval is waiting for your decision' }).click();
    await page.getByRole('link', { name: /^Tom/ }).first().click();
    await page.getByLabel('Reason, for your team and the agent').fill('It was sent.');
    await button('Reject Cancel order').click();
    await page.getByText('Rejected by ana').waitFor();
  });

  it('a member creates a key and revokes it', async () => {
    await page.getByRole('link', { name: 'Keys and subscriptions' }).click();
    await page.getByText('Create an API key').click();
    await page.getByLabel('Name').first().fill('Website');
    await button('Create key').click();
    const key = await page.getByText(/^cs_live_\w{32}$/).innerText();
    const call = () =>
      fetch(`${team.service.url}/api/conversations`, {
        headers: { Authorization: `Bearer ${key}` },
      });
    expect((await call()).status).toBe(200);
    await page.reload(); // sends the form again
    await page.getByText('This form created this key before.').waitFor();
    expect(await page.content()).not.toContain(key);
    await page.locator('main').getByRole('link', { name: 'Keys and subscriptions' }).click();
    expect(await page.getByRole('link', { name: 'Website', exact: true }).count()).toBe(1);
    await button(/^Revoke the key Website/).click();
    await page.getByText('API key revoked.').waitFor();
    expect((await call()).status).toBe(401);
  });

  it('a member finds a delivery, copies it as curl, and resends what failed', async () => {
    const { service, endpoint } = team;
    endpoint.answerAlways('/broken', 400);
    const { body: subscription } = await service.api.post('/api/hooks', {
      event: 'message.received',
      target_url: `${endpoint.url}/broken`,
    });
    await startConversation('Vera', 'Do you sell oars?');
    const { body: deliveries } = await service.api.get(`/api/hooks/${subscription.id}/deliveries`);
    await page.getByRole('link', { name: 'Keys and subscriptions' }).click();
    await page
      .getByRole('searchbox', { name: 'Find a delivery' })
      .fill(deliveries.data[0].event_id);
    await button('Find').click();
    await page.getByRole('heading', { name: 'Delivery of message.received' }).waitFor();
    await button('Show as curl').click();
    await page.getByRole('group', { name: 'The command' }).getByText('curl -i -X POST').waitFor();
    await page.getByRole('link', { name: /message\.received/ }).click();
    await page.getByRole('link', { name: 'Resend failed deliveries' }).click();
    await page.getByText('1 delivery failed and never arrived').waitFor();
    endpoint.answerAlways('/broken', 200);
    await button('Resend').click();
    await page
      .getByText('1 failed delivery is being sent again. Nothing is left to resend.')
      .waitFor();
  });

  it('a member defines a tool, tests it and makes it live', async () => {
    await page.goto(`${team.service.url}/tools/new`);
    await page.getByLabel('Name', { exact: true }).first().fill('find_order');
    await page.getByLabel('Description').first().fill('Finds an order.');
    await page.getByRole('group', { name: 'Parameter 1' }).getByLabel('Name').fill('order_number');
    await button('Add parameter').click();
    await page.getByRole('group', { name: 'Parameter 2' }).getByLabel('Name').fill('postcode');
    await page.getByRole('group', { name: 'Parameter 1' }).getByLabel('Required').uncheck();
    await page.getByLabel('Endpoint URL').fill(`${team.endpoint.url}/find`);
    await button('Create tool').click();
    await page.getByRole('heading', { name: 'find_order created' }).waitFor();
    await button('Go to the tool').click();
    await page.getByLabel('postcode').fill('1010');
    await button('Run test call').click();
    await page.getByText('Last test call succeeded').waitFor();
    await button('Go live').click();
    await page.getByText('The tool is live').waitFor();
    expect(team.endpoint.envelopes('/find')[0].arguments).toEqual({ postcode: '1010' });
  });

  it('a member signs out', async () => {
    await page.getByRole('link', { name: 'ana', exact: true }).click();
    await button('Sign out').first().click();
    await page.getByText('You are signed out.').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('a customer is told that the chat needs JavaScript', async () => {
    await page.goto(`${team.service.url}/chat`);
    expect(await page.locator('noscript').innerText()).toContain('This chat needs JavaScript.');
  });
});
