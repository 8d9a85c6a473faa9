import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { waitFor } from '../helpers/waitFor.ts';
import { startConversation } from './customers.ts';
import { team, useTeam } from './team.ts';

describe('a search in what was said', () => {
  useTeam();

  const isInView = (message: Locator) =>
    message.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });

  it('marks the words that match, and leads to the message', async () => {
    const { customer } = await startConversation('Mara', 'Hello! Is the parcel A-1042 late?');
    for (let i = 0; i < 40; i += 1) await customer.write(`And another thing: number ${i}.`);
    const { page } = await team.openSignedIn('/conversations?q=a1042');
    expect(await page.locator('mark').allTextContents()).toEqual(['A-1042']);
    await page.getByRole('link', { name: /Mara/ }).click();
    const message = page.locator('.message').filter({ hasText: 'A-1042' });
    await message.waitFor();
    await waitFor('the message to be in view', () => isInView(message));
  });
});
