// How many keys the daily tasks take from the inbox. Ctrl+Enter counts as two keys, a typed text as
// none.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { callIn, type DefinedTool } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { keysOf } from './keys.ts';
import { team, useTeam } from './team.ts';
import { customerWaitingForApproval, customerWaitingForPerson, startAgent } from './customers.ts';

describe('from the inbox, by keyboard,', () => {
  useTeam();
  let tool: DefinedTool;
  beforeAll(async () => {
    tool = await startAgent();
  });

  const openInbox = async () => {
    const { page } = await team.openSignedIn('/conversations');
    await page.getByRole('region', { name: 'All' }).waitFor();
    return { page, keys: keysOf(page) };
  };
  const statusOf = async (id: string) =>
    (await team.service.api.get(`/api/conversations/${id}`)).body.status;
  const expectAtMost = (budget: number, pressed: readonly string[]) => {
    process.stdout.write(`${expect.getState().currentTestName}: ${pressed.join(' ')}\n`);
    expect(pressed.length).toBeLessThanOrEqual(budget);
  };

  it('answering the customer who has waited longest takes at most four keys', async () => {
    const { customer } = await customerWaitingForPerson({ name: 'First Comer' });
    await customerWaitingForPerson({ name: 'Second Comer' });
    const { page, keys } = await openInbox();
    await keys.press('w');
    await page.getByRole('heading', { name: 'First Comer' }).waitFor();
    await keys.press('r');
    await keys.write('Good morning, here I am.');
    await keys.press('Ctrl+Enter');
    await page.getByRole('article').getByText('Good morning, here I am.').waitFor();
    expect((await customer.read()).at(-1)?.text).toBe('Good morning, here I am.');
    expectAtMost(4, keys.pressed);
  });

  it('finding somebody by phone takes at most five keys', async () => {
    await customerWaitingForPerson({ name: 'Kenji', phone: '+44 20 7946 0018' });
    const { page, keys } = await openInbox();
    await keys.press('/');
    await keys.write('020 7946 0018');
    await keys.press('Enter');
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('Kenji'));
    await keys.press('Enter');
    await page.getByRole('heading', { name: 'Kenji' }).waitFor();
    expectAtMost(5, keys.pressed);
  });

  it('approving takes at most three keys, and is announced', async () => {
    const { id } = await customerWaitingForApproval(tool, { name: 'Tom' });
    const { page, keys } = await openInbox();
    // A screen reader says what is added to a status region that is there already.
    await page.evaluate(() => {
      const announced: string[] = [];
      Object.assign(globalThis, { announced });
      new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes)
          if ((target as Element).closest('[role=status]'))
            for (const node of addedNodes) announced.push(node.textContent ?? '');
      }).observe(document, { subtree: true, childList: true });
    });
    await keys.press('p');
    const card = page.getByRole('article', { name: 'Approval of Cancel order' });
    await card.and(page.locator(':focus')).waitFor();
    await keys.press('Tab', 'Enter');
    await page.getByText('Approved by ana').waitFor();
    await callIn(team.service.api, `conversation_id=${id}`, 'succeeded');
    expectAtMost(3, keys.pressed);
    await waitFor('the announcement', async () =>
      (
        await page.evaluate(() => (globalThis as unknown as { announced: string[] }).announced)
      ).some((text) => text.includes('Approved.')),
    );
  });

  it('approving what a workflow asks takes at most three keys', async () => {
    const { id } = await customerWaitingForPerson({ name: 'Wei' });
    const { body } = await team.service.api.post('/api/waits', {
      kind: 'decision',
      message: 'Refund 49 EUR?',
      details: { order: 'A-1042' },
      resume_url: `${team.endpoint.url}/webhook-waiting/1`,
      conversation_id: id,
    });
    const { page, keys } = await openInbox();
    await keys.press('p');
    await page.getByRole('article', { name: 'Decision' }).and(page.locator(':focus')).waitFor();
    await keys.press('Tab', 'Enter');
    await waitFor('the decision', async () => {
      const wait = (await team.service.api.get(`/api/waits/${body.id}`)).body;
      return wait.status === 'approved';
    });
    expectAtMost(3, keys.pressed);
  });

  it('closing with a verdict takes at most six keys', async () => {
    const { id } = await customerWaitingForPerson({ name: 'Delia' });
    const { page, keys } = await openInbox();
    await page.getByRole('link', { name: /^Delia/ }).waitFor();
    await keys.press('j', 'e');
    await page.getByRole('heading', { name: 'Close this conversation' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'f-verdict');
    await keys.press('g', 'Tab');
    await keys.write('Her tent will be repaired.');
    await keys.press('Ctrl+Enter');
    await page.getByText('Conversation closed.').waitFor();
    expect(await statusOf(id)).toBe('closed');
    expectAtMost(6, keys.pressed);
  });
});
