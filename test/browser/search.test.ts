import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { chatCustomer } from '../helpers/apiClient.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { startTeam, type Team } from './team.ts';

describe('a search in what was said', () => {
  let team: Team;
  beforeAll(async () => {
    team = await startTeam();
  });
  afterEach(() => team.closeWindows());
  afterAll(() => team?.close());

  const isInView = (message: Locator) =>
    message.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });

  it('marks the words that match, and leads to the message', async () => {
    const customer = await chatCustomer(team.service.url, { name: 'Mara' });
    await customer.write('Hello! Is the parcel A-1042 late?');
    for (let i = 0; i < 40; i += 1) await customer.write(`And another thing: number ${i}.`);
    const { page } = await team.openSignedIn('/conversations?q=a1042');
    expect(await page.locator('mark').allTextContents()).toEqual(['A-1042']);
    await page.getByRole('link', { name: /Mara/ }).click();
    const message = page.locator('.message').filter({ hasText: 'A-1042' });
    await message.waitFor();
    await waitFor('the message to be in view', () => isInView(message));
  });
});
