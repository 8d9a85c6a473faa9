// A day's work: a member who is no owner handles fifty conversations by keyboard alone. The keys of
// each are counted.
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Browserless } from '../helpers/browserless.ts';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import { keysOf } from './keys.ts';
import { BEN, team, useTeam } from './team.ts';
import { customerWaitingForApproval, customerWaitingForPerson, startAgent } from './customers.ts';

const WAITING = 44;
const APPROVALS = 6;
const NOTE = 'Rang yesterday, too.';
/** What the member does besides answering, by the place of the conversation. */
const isToBeNoted = (n: number) => n % 5 === 1;
const isToBeAssigned = (n: number) => n % 6 === 2;
const isToBeClosed = (n: number) => n % 4 === 3;

describe('a day of fifty conversations', () => {
  useTeam();
  let ben: Browserless;
  /** Conversations that wait for a person. */
  const waiting: string[] = [];
  /** Conversations with a call that waits for an approval. */
  const withApproval: string[] = [];
  beforeAll(async () => {
    const tool = await startAgent();
    ({ ben } = await teamOfTwo(team.service, 'member'));
    for (let n = 0; n < WAITING; n += 1)
      waiting.push((await customerWaitingForPerson({ name: `Customer ${n}` })).id);
    for (let n = 0; n < APPROVALS; n += 1)
      withApproval.push((await customerWaitingForApproval(tool, { name: `Buyer ${n}` })).id);
  });

  it('is done by keyboard alone', async () => {
    const { page } = await team.openSignedIn('/conversations', {}, BEN);
    const keys = keysOf(page);
    const handled: { id: string; did: string; keys: readonly string[] }[] = [];
    const waitUntilOpen = (id: string) =>
      page.waitForFunction(
        (wanted) =>
          document.querySelector<HTMLElement>('.inbox')?.dataset.conversation === wanted &&
          document.activeElement?.id === 'thread',
        id,
      );
    const waitForFocus = (id: string) =>
      page.waitForFunction((wanted) => document.activeElement?.id === wanted, id);

    for (const [n, id] of waiting.entries()) {
      const did = ['answered'];
      await keys.press('w');
      await waitUntilOpen(id);
      if (isToBeNoted(n)) {
        did.push('noted');
        await keys.press('n');
        await keys.write(NOTE);
        await keys.press('Ctrl+Enter');
      }
      if (isToBeAssigned(n)) {
        did.push('assigned');
        await keys.press('a');
        await waitForFocus('assignee');
        await keys.press('b', 'Enter');
        await page.getByRole('button', { name: 'Assign to me' }).waitFor({ state: 'detached' });
      }
      // Without a wait for the note or the assignment: what is typed while they are sent is kept.
      await keys.press('r');
      await keys.write(`Good day, customer ${n}.`);
      await keys.press('Ctrl+Enter');
      if (isToBeClosed(n)) {
        did.push('closed');
        await keys.press('Escape', 'e');
        await waitForFocus('f-verdict');
        await keys.press('g', 'Tab');
        await keys.write('Told what they wanted to know.');
        await keys.press('Ctrl+Enter');
      } else await keys.press('Escape');
      handled.push({ id, did: did.join(', '), keys: keys.take() });
    }
    for (const id of withApproval) {
      await keys.press('p');
      await page
        .locator(`[data-conversation="${id}"] .approval.waiting`)
        .and(page.locator(':focus'))
        .waitFor();
      await keys.press('Tab', 'Enter');
      await page.getByText('Approved by Ben').waitFor();
      handled.push({ id, did: 'approved', keys: keys.take() });
    }

    for (const { id, did, keys: pressed } of handled)
      process.stdout.write(`${id} ${did}: ${pressed.length} (${pressed.join(' ')})\n`);
    const total = handled.reduce((sum, { keys: pressed }) => sum + pressed.length, 0);
    process.stdout.write(`${handled.length} conversations, ${total} keys\n`);
    expect(handled).toHaveLength(WAITING + APPROVALS);
    expect(total / handled.length).toBeLessThanOrEqual(7);

    const { api } = team.service;
    for (const [n, id] of waiting.entries()) {
      const { body } = await api.get(`/api/conversations/${id}`);
      expect([id, body.status]).toEqual([id, isToBeClosed(n) ? 'closed' : 'human_active']);
      if (isToBeAssigned(n)) expect(body.assignee).toMatchObject({ name: 'Ben' });
      const { data } = (await api.get(`/api/conversations/${id}/messages`)).body;
      const texts = data.map(({ text }: { text: string }) => text);
      expect(texts.filter((text: string) => text.startsWith('Good day'))).toEqual([
        `Good day, customer ${n}.`,
      ]);
      expect(texts).not.toContain(NOTE);
      const thread = await ben.get(`/conversations/${id}`);
      expect([id, thread.text.includes(NOTE)]).toEqual([id, isToBeNoted(n)]);
    }
    for (const id of withApproval) {
      const { body } = await api.get(`/api/tool-calls?conversation_id=${id}`);
      expect(body.data[0].status).toBe('succeeded');
    }
  }, 400_000);
});
