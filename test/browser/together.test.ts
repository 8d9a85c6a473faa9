import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { DefinedTool } from '../helpers/toolEndpoint.ts';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import { BEN, closeConversation, expectNoReload, markPage, team, useTeam } from './team.ts';
import { customerWaitingForApproval, startAgent, startConversation } from './customers.ts';

describe('two members in two browsers', () => {
  useTeam();
  let ana: Page;
  let ben: Page;
  let tool: DefinedTool;

  beforeAll(async () => {
    await teamOfTwo(team.service);
    tool = await startAgent();
  });
  beforeEach(async () => {
    [{ page: ana }, { page: ben }] = await Promise.all([
      team.openSignedIn(),
      team.openSignedIn('/conversations', {}, BEN),
    ]);
    for (const page of [ana, ben]) page.on('dialog', (dialog) => void dialog.accept());
  });

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const item = (page: Page, name: RegExp) => page.getByRole('link', { name });
  const both = (act: (page: Page) => Promise<unknown>) => Promise.all([ana, ben].map(act));

  /** A customer writes, and both members open the conversation. */
  async function bothOpenConversation(name: string, text = 'Hello, is anybody there?') {
    const { customer, path } = await startConversation(name, text);
    await both((page) => page.goto(team.service.url + path));
    await both((page) => page.getByRole('article').getByText(text).waitFor());
    await both(markPage);
    return customer;
  }

  it('see a new conversation, which loses its unread mark only for the one who has read it', async () => {
    await both(markPage);
    const { customer } = await startConversation('Aisha', 'Which maps do you have?');
    await both((page) => item(page, /Aisha.*1 unread/).waitFor());
    await both(expectNoReload);
    await item(ana, /Aisha/).click();
    await ana.getByRole('article').getByText('Which maps').waitFor();
    await item(ana, /Aisha/).filter({ hasNotText: 'unread' }).waitFor();
    await item(ben, /Aisha.*unread/).waitFor();
    await customer.write('Still there?');
    await item(ben, /Aisha.*Still there\?/).waitFor();
    await item(ben, /Aisha.*[23] unread/).waitFor();
    await expectNoReload(ben);
  });

  it('see each other take over, reply, set the stage, hand back and close', async () => {
    const customer = await bothOpenConversation('Clara');
    await button(ana, 'Take over').click();
    await ben.getByText('ana took over').waitFor();
    await button(ben, 'Take over from ana').waitFor();
    await ben.getByText('ana has this conversation. Your reply takes it over.').waitFor();
    await ana.getByLabel('Your reply').fill('Good morning, how can I help?');
    await button(ana, 'Send').click();
    await ben.getByRole('article').getByText('how can I help?').waitFor();
    await customer.write('My tent leaks.');
    await both((page) => page.getByRole('article').getByText('My tent leaks.').waitFor());
    await ana.getByRole('combobox', { name: 'Stage' }).selectOption('Qualified');
    await button(ana, 'Set the stage').click();
    await ben.getByText('ana changed the stage from Engaged to Qualified').waitFor();
    expect(await ben.getByRole('combobox', { name: 'Stage' }).inputValue()).toBe('qualified');
    await button(ben, 'Take over from ana').click();
    await ana.getByText('Ben took over').waitFor();
    await button(ben, 'Actions').click();
    await button(ben, 'Hand back to the agent').click();
    await ana.getByText('Ben handed back to the agent').waitFor();
    await closeConversation(ana, 'Goal reached', 'Repaired.');
    await ben.getByText('This conversation is closed').waitFor();
    await ben.getByText('ana closed the conversation').waitFor();
  });

  it('keep what they are typing while the other one acts, and are told when the conversation is closed', async () => {
    await bothOpenConversation('Delia');
    const draft = ben.getByLabel('Your reply');
    await draft.pressSequentially('I think the');
    await button(ana, 'Take over').click();
    await ben.getByText('ana has this conversation.').waitFor();
    await draft.pressSequentially(' tent is fine');
    expect(await draft.inputValue()).toBe('I think the tent is fine');
    await closeConversation(ana, 'Unknown', 'Nothing was agreed.');
    await ben.getByText('This conversation is closed').waitFor();
    expect(await draft.inputValue()).toBe('I think the tent is fine');
    await expectNoReload(ben);
  });

  it('see at once how the other one has decided on a tool call', async () => {
    const { id } = await customerWaitingForApproval(tool, { name: 'Ewa' });
    await both((page) => page.goto(`${team.service.url}/conversations/${id}`));
    await both((page) => page.getByRole('article', { name: 'Approval of Cancel order' }).waitFor());
    await both(markPage);
    await ana.getByLabel('Reason, for your team and the agent').fill('It was sent this morning.');
    await button(ana, 'Reject Cancel order').click();
    await ben.getByText('Rejected by ana').waitFor();
    await ben.getByText('Reason: It was sent this morning.').waitFor();
    expect(await button(ben, 'Approve Cancel order').count()).toBe(0);
    await ben.getByText('is waiting for your decision').waitFor({ state: 'detached' });
    await expectNoReload(ben);
  });

  it('see new and revoked keys, and tools that go live and pause', async () => {
    await both((page) => page.goto(`${team.service.url}/keys`));
    await both(markPage);
    await ana.getByText('Create an API key').click();
    await ana.getByLabel('Name').first().fill('Website');
    await button(ana, 'Create key').click();
    await ana.getByText('This is the key “Website”.').waitFor();
    await button(ben, /^Revoke the key Website/).waitFor();
    await expectNoReload(ben);
    await button(ben, /^Revoke the key Website/).click();
    await button(ana, /^Revoke the key Website/).waitFor({ state: 'detached' });
    await both((page) => page.goto(`${team.service.url}/tools/${tool.id}`));
    await both(markPage);
    await button(ana, 'Pause').click();
    await button(ben, 'Go live').waitFor();
    await button(ben, 'Go live').click();
    await button(ana, 'Pause').waitFor();
    await both(expectNoReload);
  });

  it('see deliveries arrive, and a subscription become failing and recover', async () => {
    const { endpoint, service } = team;
    endpoint.answerAlways('/events', 404);
    const { body: subscription } = await service.api.post('/api/hooks', {
      event: 'conversation.closed',
      target_url: `${endpoint.url}/events`,
      source: 'n8n',
    });
    await ana.goto(`${service.url}/keys/subscriptions/${subscription.id}`);
    await ben.goto(`${service.url}/keys`);
    await both(markPage);
    const failed = ana
      .getByRole('group')
      .filter({ hasText: 'Failed' })
      .filter({ has: ana.locator('summary') });
    for (let number = 1; number <= 5; number++) {
      await service.api.post(`/api/hooks/${subscription.id}/test`, {});
      await failed.nth(number - 1).waitFor();
    }
    await both((page) => page.getByText('Failing', { exact: true }).waitFor());
    await both((page) => page.getByText('The last 5 deliveries failed').waitFor());
    await both(expectNoReload);
    endpoint.answerAlways('/events', 200);
    await service.api.post(`/api/hooks/${subscription.id}/test`, {});
    await ben.getByText('Failing', { exact: true }).waitFor({ state: 'detached' });
    await ana.getByText('Delivered', { exact: true }).first().waitFor();
    await both(expectNoReload);
  });
});
