// Which members look at a conversation, and which write there, as the others see it.
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';
import { lateClock } from './sampleContent.ts';
import { startConversation } from './customers.ts';
import { BEN, team, useTeam } from './team.ts';

describe('a conversation that two members have open', () => {
  const clock = lateClock();
  clock.behindMs = 60_000;
  useTeam({ clock });
  let ana: Page;
  let ben: Page;
  let path: string;

  beforeAll(() => teamOfTwo(team.service));
  beforeEach(async () => {
    ({ path } = await startConversation('Aisha'));
    const bens = await team.openSignedIn('/conversations', {}, BEN);
    // His browser dies in one of the tests.
    bens.allowErrors(/ERR_INTERNET_DISCONNECTED/);
    ben = bens.page;
    ({ page: ana } = await team.openSignedIn(path));
  });

  const othersHere = (page: Page) => page.locator('#presence .here');
  const composer = (page: Page) => page.locator('.composer');
  const detached = { state: 'detached' } as const;

  it('shows each member that the other one is there, until they leave', async () => {
    expect(await othersHere(ana).count()).toBe(0);
    await ben.goto(team.service.url + path);
    await othersHere(ana).getByText('Ben is here too').waitFor();
    await othersHere(ben).getByText('ana is here too').waitFor();
    await ben.getByRole('link', { name: /^Tools/ }).click();
    await othersHere(ana).waitFor(detached);
  });

  it('shows that the other one is writing, until they stop or send', async () => {
    await ben.goto(team.service.url + path);
    const writing = composer(ana).getByText('Ben is writing…');
    const draft = ben.getByLabel('Your reply');
    await draft.pressSequentially('We have');
    await writing.waitFor();
    expect(await composer(ben).getByText('writing…').count()).toBe(0);
    await draft.fill('');
    await writing.waitFor(detached);
    await draft.pressSequentially('We have two.');
    await writing.waitFor();
    await ben.getByRole('button', { name: 'Send' }).click();
    await ana.getByRole('article').getByText('We have two.').waitFor();
    await writing.waitFor(detached);
    await othersHere(ana).getByText('Ben is here too').waitFor();
  });

  it('forgets a writer whose browser has died, and keeps what the other one types', async () => {
    await ben.goto(team.service.url + path);
    await ben.getByLabel('Your reply').pressSequentially('We have');
    const writing = composer(ana).getByText('Ben is writing…');
    await writing.waitFor();
    await ana.getByLabel('Your reply').fill('I am on it');
    await ben.context().setOffline(true);
    await ben.close();
    clock.behindMs = 0; // a minute passes
    await writing.waitFor(detached);
    expect(await ana.getByLabel('Your reply').inputValue()).toBe('I am on it');
  });
});
