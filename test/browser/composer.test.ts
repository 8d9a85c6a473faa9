import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { signedInBrowser } from '../helpers/browserless.ts';
import type { BrowserWindow } from './browser.ts';
import { startConversation } from './customers.ts';
import { team, useTeam } from './team.ts';

useTeam();

describe('writing in a conversation of a team without canned replies', () => {
  it.each([
    ['reply', 'click', 'Your reply'],
    ['reply', 'Control+Enter', 'Your reply'],
    ['note', 'Control+Enter', 'Your note'],
  ])('a %s sent by %s leaves an empty field and no draft', async (what, how, label) => {
    const { path } = await startConversation('Clara');
    const { page } = await team.openSignedIn(path);
    const write = async (text: string) => {
      if (what === 'note') await page.keyboard.press('n');
      else await page.getByLabel(label, { exact: true }).focus();
      await page.keyboard.type(text);
      if (how === 'click') await page.getByRole('button', { name: 'Send', exact: true }).click();
      else await page.keyboard.press(how);
      await page.getByRole('article').getByText(text, { exact: true }).waitFor();
      await page.waitForFunction(
        () => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling'),
      );
      expect(await page.getByLabel(label, { exact: true }).inputValue()).toBe('');
    };
    await write('One.');
    await write('Two.');
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  });

  it('/ says that there are no canned replies, and links to the form that creates one', async () => {
    const { path } = await startConversation('Maria');
    const { page, axe, overflow } = await team.openSignedIn(path);
    const empty = page.getByText('No canned replies yet.');
    const reply = page.getByLabel('Your reply');
    expect(await empty.isVisible()).toBe(false);
    await reply.focus();
    await page.keyboard.type('/');
    await empty.waitFor();
    expect([await axe(), await overflow()]).toEqual([[], []]);
    await page.keyboard.type('tmp is full');
    expect(await reply.inputValue()).toBe('/tmp is full');
    await reply.fill('Good day');
    await empty.waitFor({ state: 'hidden' });
    await reply.fill('/');
    await page.getByRole('link', { name: 'Create the first one' }).click();
    await page.getByRole('heading', { name: 'Canned replies' }).waitFor();
  });
});

describe('writing in a conversation', () => {
  beforeAll(async () => {
    const ana = await signedInBrowser(team.service.url);
    await ana.get('/settings/canned-replies');
    for (const [name, shortcut, text] of [
      ['Greeting', 'hello', 'Hello {{customer_first_name|there}}, this is {{member_name}}.'],
      ['Opening hours', 'hours', 'We are open from 9 to 5.'],
      ['Parcel', 'parcel', 'Your parcel {{customer_email}} is on its way.'],
    ] as const)
      await ana.post('/settings/canned-replies', { name, shortcut, text });
  });

  const reply = (page: Page) => page.getByLabel('Your reply');
  const search = (page: Page) => page.getByRole('combobox', { name: 'Find a canned reply' });
  const list = (page: Page) => page.getByRole('listbox', { name: 'Canned replies' });
  const options = (page: Page) => list(page).getByRole('option');
  const chosen = (page: Page) => list(page).getByRole('option', { selected: true });

  it('finds a canned reply by / and a few letters, and fills in its placeholders', async () => {
    const { customer, path } = await startConversation('Maria del Mar');
    const { page } = await team.openSignedIn(path);
    await reply(page).focus();
    await page.keyboard.type('/hel');
    await expectFocus(page, 'canned-search');
    expect(await chosen(page).innerText()).toContain('Greeting');
    expect(await search(page).getAttribute('aria-activedescendant')).toBe('canned-option-0');
    await page.getByRole('status').getByText('1 found').waitFor();
    await page.keyboard.press('Enter');
    expect(await reply(page).inputValue()).toBe('Hello Maria, this is ana.');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article').getByText('Hello Maria, this is ana.').waitFor();
    expect((await customer.read()).at(-1)?.text).toBe('Hello Maria, this is ana.');
  });

  it('moves with the arrows, selects the placeholder that is left, and keeps the text after the slash', async () => {
    const { path } = await startConversation('Noor');
    const { page } = await team.openSignedIn(path);
    await reply(page).fill(' Bye!');
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('/');
    expect(await options(page).count()).toBe(3);
    await page.keyboard.press('ArrowUp');
    expect(await chosen(page).innerText()).toContain('Parcel');
    await page.keyboard.press('Tab');
    await page.keyboard.type('A-1042');
    expect(await reply(page).inputValue()).toBe('Your parcel A-1042 is on its way. Bye!');
  });

  it('opens only at the beginning, keeps what was typed on Escape, and closes on Backspace and by a click', async () => {
    const { path } = await startConversation('Ola');
    const { page } = await team.openSignedIn(path);
    await reply(page).focus();
    await page.keyboard.type('/tmp is full');
    await page.getByText('No canned reply matches.').waitFor();
    await page.keyboard.press('Escape');
    expect(await reply(page).inputValue()).toBe('/tmp is full');
    await expectFocus(page, 'f-text');
    await reply(page).fill('');
    await page.keyboard.type('/');
    await page.keyboard.press('Backspace');
    expect(await reply(page).inputValue()).toBe('');
    await page.keyboard.type('/');
    await options(page).filter({ hasText: 'Opening hours' }).click();
    expect(await reply(page).inputValue()).toBe('We are open from 9 to 5.');
    expect(await search(page).count()).toBe(0);
    await reply(page).fill('9');
    await page.keyboard.type('/5');
    expect(await search(page).count()).toBe(0);
  });

  it('keeps what was typed when the search is left: by Tab without results, by Shift+Tab, or by a click', async () => {
    const { path } = await startConversation('Quinn');
    const { page } = await team.openSignedIn(path);
    const clickElsewhere = () => page.getByRole('article').first().click();
    for (const [typed, leave] of [
      ['/nothing', () => page.keyboard.press('Tab')],
      ['/', () => page.keyboard.press('Shift+Tab')],
      ['/hel', () => page.keyboard.press('Shift+Tab')],
      ['/tmp is full', clickElsewhere],
    ] as const) {
      await reply(page).fill('');
      await page.keyboard.type(typed);
      await search(page).waitFor();
      await leave();
      expect(await search(page).count()).toBe(0);
      expect(await reply(page).inputValue()).toBe(typed);
    }
  });

  it('writes a note while a half-written reply stays', async () => {
    const { customer, path } = await startConversation('Pia');
    const { page } = await team.openSignedIn(path);
    await reply(page).fill('I will look');
    await page.getByRole('radio', { name: 'Note' }).check();
    expect(await reply(page).isVisible()).toBe(false);
    await page.getByLabel('Your note').fill('She rang yesterday.');
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('article', { name: 'Note by ana' }).waitFor();
    expect(await reply(page).inputValue()).toBe('I will look');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('I will look').waitFor();
    expect((await customer.read()).map(({ text }) => text)).toEqual(['Hello?', 'I will look']);
  });

  // accessibility.test.ts checks the screens as they load.
  it('is accessible and fits the window while somebody writes', async () => {
    const { path } = await startConversation('Rosa');
    const window = await team.openSignedIn(path);
    await window.page.getByText('Canned replies', { exact: true }).click();
    await window.page.getByRole('radio', { name: 'Note' }).check();
    await window.page.getByLabel('Your note').fill('Seen.');
    await expectFit(window);
    await window.page.getByRole('button', { name: 'Add note' }).click();
    await window.page.getByRole('article', { name: 'Note by ana' }).waitFor();
    await window.page.mouse.move(0, 0);
    await reply(window.page).focus();
    await window.page.keyboard.type('/');
    await options(window.page).first().waitFor();
    await expectFit(window);
    await window.screenshot('composer');
  });
  const expectFit = async ({ axeLightAndDark, overflow }: BrowserWindow) =>
    expect([await axeLightAndDark(), await overflow()]).toEqual([[], []]);

  it('has both forms without scripts, and canned replies to copy from', async () => {
    const { path } = await startConversation('Quinn');
    const { page } = await team.openSignedIn(path, {
      context: { javaScriptEnabled: false },
    });
    await page.getByText('Canned replies', { exact: true }).click();
    await page.getByText('Hello Quinn, this is ana.').waitFor();
    await page.getByRole('radio', { name: 'Note' }).check();
    await page.getByLabel('Your note').fill('Nothing to do.');
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('article', { name: 'Note by ana' }).waitFor();
    await reply(page).fill('Good evening.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText('Good evening.').waitFor();
  });

  const expectFocus = (page: Page, id: string) =>
    page.waitForFunction((wanted) => document.activeElement?.id === wanted, id);
});
