// A day's work of fifty conversations by keyboard alone, as a member who is no owner does it, and the
// keys of each.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import type { DefinedTool } from '../helpers/toolEndpoint.ts';
import { keysOf, type Keys } from './keys.ts';
import { BEN, startTeam, type Team } from './team.ts';
import { startAgent, waitsForApproval, waitsForPerson } from './waitingCustomers.ts';

const PEOPLE = 44;
const APPROVALS = 6;

describe('a day of fifty conversations', () => {
  let team: Team;
  let tool: DefinedTool;
  const waiting: string[] = [];
  const asking: string[] = [];
  beforeAll(async () => {
    team = await startTeam();
    tool = await startAgent(team);
    await teamOfTwo(team.service, 'member');
    for (let n = 0; n < PEOPLE; n += 1)
      waiting.push((await waitsForPerson(team, { name: `Customer ${n}` })).id);
    for (let n = 0; n < APPROVALS; n += 1)
      asking.push((await waitsForApproval(team, tool, { name: `Buyer ${n}` })).id);
  });
  afterAll(async () => {
    await team?.closeWindows();
    await team?.close();
  });

  it('is done by keyboard alone', async () => {
    const { page } = await team.openSignedIn('/conversations', {}, BEN);
    const keys: Keys = keysOf(page);
    const days: { id: string; did: string; keys: readonly string[] }[] = [];
    const opened = (id: string) =>
      page.waitForFunction(
        (wanted) =>
          document.querySelector<HTMLElement>('.inbox')?.dataset.conversation === wanted &&
          document.activeElement?.id === 'thread',
        id,
      );
    const focusIs = (id: string) =>
      page.waitForFunction((wanted) => document.activeElement?.id === wanted, id);

    for (const [n, id] of waiting.entries()) {
      const did = ['answered'];
      await keys.press('w');
      await opened(id);
      if (n % 5 === 1) {
        did.push('noted');
        await keys.press('n');
        await keys.write('Rang yesterday, too.');
        await keys.press('Ctrl+Enter');
      }
      if (n % 6 === 2) {
        did.push('assigned');
        await keys.press('a');
        await focusIs('assignee');
        await keys.press('b', 'Enter');
        await page.getByRole('button', { name: 'Assign to me' }).waitFor({ state: 'detached' });
      }
      // Without waiting for what was sent before: what is typed in between is not lost.
      await keys.press('r');
      await keys.write(`Good day, customer ${n}.`);
      await keys.press('Ctrl+Enter');
      if (n % 4 === 3) {
        did.push('closed');
        await keys.press('Escape', 'e');
        await focusIs('f-verdict');
        await keys.press('g', 'Tab');
        await keys.write('Told what they wanted to know.');
        await keys.press('Ctrl+Enter');
      } else await keys.press('Escape');
      days.push({ id, did: did.join(', '), keys: keys.take() });
    }
    for (const id of asking) {
      await keys.press('p');
      await page
        .locator(`[data-conversation="${id}"] .approval.waiting`)
        .and(page.locator(':focus'))
        .waitFor();
      await keys.press('Tab', 'Enter');
      await page.getByText('Approved by Ben').waitFor();
      days.push({ id, did: 'approved', keys: keys.take() });
    }

    for (const { id, did, keys: pressed } of days)
      process.stdout.write(`${id} ${did}: ${pressed.length} (${pressed.join(' ')})\n`);
    const total = days.reduce((sum, { keys: pressed }) => sum + pressed.length, 0);
    process.stdout.write(`${days.length} conversations, ${total} keys\n`);
    expect(days).toHaveLength(PEOPLE + APPROVALS);
    expect(total / days.length).toBeLessThanOrEqual(7);

    const { api } = team.service;
    for (const [n, id] of waiting.entries()) {
      const { body } = await api.get(`/api/conversations/${id}`);
      expect([id, body.status]).toEqual([id, n % 4 === 3 ? 'closed' : 'human_active']);
      const { data } = (await api.get(`/api/conversations/${id}/messages`)).body;
      const texts = data.map(({ text }: { text: string }) => text);
      expect(texts.filter((text: string) => text.startsWith('Good day'))).toEqual([
        `Good day, customer ${n}.`,
      ]);
      expect(texts.join()).not.toContain('Rang');
    }
    for (const id of asking) {
      const { body } = await api.get(`/api/tool-calls?conversation_id=${id}`);
      expect(body.data[0].status).toBe('succeeded');
    }
  }, 400_000);
});
