// What the chat shows besides messages: that an answer is being typed, and answers to choose from.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { text } from '../helpers/modelServer.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { held, startAgentService, type AgentService } from '../service/agent/agentService.ts';
import { launchBrowser, openWindow, type BrowserWindow } from './browser.ts';

describe('the chat page', () => {
  let browser: Browser;
  let agent: AgentService;
  let window: BrowserWindow;
  let page: Page;

  beforeAll(async () => {
    [browser, agent] = await Promise.all([launchBrowser(), startAgentService()]);
    window = await openWindow(browser);
    page = window.page;
    await page.goto(`${agent.service.url}/chat`);
  });
  afterAll(async () => {
    await window?.close();
    await browser?.close();
    await agent?.close();
  });

  it('shows and announces “Typing” until the answer is there', async () => {
    const answer = held(text('It leaves tomorrow.'));
    agent.model.answerBy(() => answer.reply);
    await page.getByRole('textbox', { name: 'Your message' }).fill('Where is my order?');
    await page.keyboard.press('Enter');
    const typing = page.locator('#typing');
    await typing.waitFor();
    expect(await page.getByRole('status').innerText()).toContain('Typing');
    expect(await window.axe()).toEqual([]);
    await answer.give();
    await page.getByText('It leaves tomorrow.').waitFor();
    expect(await typing.isVisible()).toBe(false);
  });

  it('hides “Typing” when the connection is lost, and shows it again once it is back', async () => {
    const answer = held(text('On Tuesday.'));
    agent.model.answerBy(() => answer.reply);
    await page.getByRole('textbox', { name: 'Your message' }).fill('When will it arrive?');
    await page.keyboard.press('Enter');
    const typing = page.locator('#typing');
    await typing.waitFor();
    window.allowErrors(/ERR_INTERNET_DISCONNECTED/);
    await page.context().setOffline(true);
    await typing.waitFor({ state: 'hidden' });
    await page.context().setOffline(false);
    await typing.waitFor();
    await answer.give();
    await page.getByText('On Tuesday.').waitFor();
    expect(await typing.isVisible()).toBe(false);
  });

  describe('with a question that has choices', () => {
    let executions = 0;
    // The tool server stands in for n8n: it accepts every call.
    const resumeUrl = () => `http://127.0.0.1:${agent.tools.port}/webhook-waiting/${++executions}`;
    const conversation = async () =>
      (await agent.service.api.get('/api/conversations')).body.data[0].id;
    const ask = async (choices: string[]) =>
      agent.service.api.post('/api/waits', {
        kind: 'reply',
        conversation_id: await conversation(),
        message: 'Which one would you like?',
        accept: { type: 'choice', choices },
        resume_url: resumeUrl(),
      });
    const group = () => page.getByRole('group', { name: 'Choose an answer' });
    const lastWritten = () => page.locator('article.customer .text').last().innerText();

    it('shows them as buttons, and sends the one that is pressed, by keyboard', async () => {
      await ask(['Tuesday', 'Thursday']);
      await group().getByRole('button', { name: 'Thursday' }).focus();
      expect(await window.axe()).toEqual([]);
      await page.keyboard.press('Enter');
      await group().waitFor({ state: 'detached' });
      expect(await lastWritten()).toBe('Thursday');
      // The focus is in the text field, where the customer goes on writing.
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('text');
      await page.reload();
      await page.locator('article.customer', { hasText: 'Thursday' }).waitFor();
      expect(await group().count()).toBe(0);
    });

    it('takes a typed answer as well, after which the buttons are gone', async () => {
      await waitFor('the previous answer', async () => {
        const { body } = await agent.service.api.get('/api/waits?status=answered');
        return body.data.length === 1;
      });
      await ask(['Red', 'Blue', 'x'.repeat(100)]);
      await group().waitFor();
      expect(await window.overflow()).toEqual([]);
      await page.getByRole('textbox', { name: 'Your message' }).fill('blue');
      await page.keyboard.press('Enter');
      await group().waitFor({ state: 'detached' });
      const answered = await waitFor('the answer', async () => {
        const { body } = await agent.service.api.get('/api/waits?status=answered');
        return body.data.length === 2 ? body.data[0] : null;
      });
      expect(answered.answer.value).toBe('Blue');
    });
  });
});
