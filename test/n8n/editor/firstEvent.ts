import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openWindow } from '../../browser/browser.ts';
import { MEMBER } from '../../helpers/browserless.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import type { N8nServer } from '../n8nServer.ts';
import type { Editor } from './editor.ts';
import { boldStepsOf } from './readmeSteps.ts';
import type { Steps } from './steps.ts';

/** The steps of the README, each what a user would call a step. */
export const STEPS = {
  install: 'Install n8n-nodes-conversation-service in n8n',
  start: 'Start the service',
  setUp: 'Open the link that it prints, fill in the form and copy the API key',
  add: 'In a new workflow, search for Conversation Service and choose On message received',
  connect: 'Connect to Conversation Service: paste the API key and save',
  execute: 'Press Execute step',
  write: 'Write a message on the chat page',
};

const MESSAGE = 'Do you deliver to Sylt?';

/**
 * From a fresh n8n with the packed package to the first event that a user sees. Everything but
 * installing and starting is done in the browser.
 * @param steps holds the installation already
 */
export function provesFirstEvent(
  started: () => { n8n: N8nServer; browser: Browser; editor: Editor },
  steps: Steps,
): void {
  describe('the first event', () => {
    let service: ServiceProcess | undefined;
    let person: Page;
    beforeAll(async () => {
      person = (await openWindow(started().browser)).page;
    });
    afterAll(async () => {
      await person.context().close();
      await service?.close();
      await forgetCredentials(started().n8n);
    });

    it('is seen in the editor after the steps of the README, eight at most', async () => {
      const { n8n, editor } = started();
      let apiKey = '';
      steps.begin(STEPS.start);
      service = await startServiceProcess({
        setUp: async (link) => {
          steps.begin(STEPS.setUp);
          return (apiKey = await setUp(person, link, n8n.port));
        },
      });
      const baseUrl = new URL(person.url()).origin;
      steps.begin(STEPS.add);
      await editor.newWorkflow();
      await editor.add('Conversation Service', 'On message received');
      steps.begin(STEPS.connect);
      await editor.connect('Conversation Service', { baseUrl, apiKey });
      steps.begin(STEPS.execute);
      await editor.executeStep();
      await editor.node.getByText('Listening for test event').waitFor();
      steps.begin(STEPS.write);
      await person.goto(`${baseUrl}/chat`);
      await person.getByLabel('Your message').fill(MESSAGE);
      await person.getByRole('button', { name: 'Send' }).click();
      await editor.output.getByText(MESSAGE).first().waitFor();
      steps.end();
      await editor.showSchema();
      await editor.output.getByText(MESSAGE).first().waitFor();
      await editor.screenshot('n8n-first-event');
      process.stdout.write(`The first event in n8n:\n${steps.report()}`);
      expect(steps.taken.length).toBeLessThanOrEqual(8);
      expect(await boldStepsOf('## Your first event in five minutes')).toEqual(
        steps.taken.map(({ title }) => title),
      );
    });
  });
}

/** Fills in the set-up form. Only n8n's port differs from its default, as tests use another one. */
async function setUp(person: Page, link: string, n8nPort: number): Promise<string> {
  await person.goto(link);
  await person.getByLabel('Workspace name').fill('Harbour Outfitters');
  await person.getByLabel('Your name').fill('Ana');
  await person.getByLabel('Your email').fill(MEMBER.email);
  await person.getByLabel('Password').fill(MEMBER.password);
  await person.getByLabel('Port of n8n').fill(String(n8nPort));
  await person.getByRole('button', { name: 'Set up and show the API key' }).click();
  return await person.getByText(/^cs_live_/).innerText();
}

/** Later proofs create credentials for a service of their own. */
async function forgetCredentials(n8n: N8nServer): Promise<void> {
  for (const { id } of await n8n.rest<{ id: string }[]>('GET', '/credentials'))
    await n8n.api('DELETE', `/credentials/${id}`);
}
