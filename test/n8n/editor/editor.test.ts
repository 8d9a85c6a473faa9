// What a user sees in n8n's own editor, in a browser. It is the first start of the README: n8n on
// the same machine over http, and a service without any setting that says what may be called.
import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../browser/browser.ts';
import { startN8n, type N8nServer } from '../n8nServer.ts';
import { openStage, type Stage } from '../stage.ts';
import { openEditor, type Editor } from './editor.ts';
import { provesAskingWorkflow } from './askingWorkflow.ts';
import { provesConversationList } from './conversationList.ts';
import { provesFirstEvent, STEPS } from './firstEvent.ts';
import { provesFirstStart } from './firstStart.ts';
import { provesNodeSearch } from './nodeSearch.ts';
import { provesPanels } from './panels.ts';
import { provesPastedExample } from './pastedExample.ts';
import { provesPublishFailures } from './publishFailures.ts';
import { timeSteps } from './steps.ts';

let n8n: N8nServer;
let browser: Browser;
let editor: Editor;
const steps = timeSteps();

beforeAll(async () => {
  steps.begin(STEPS.install);
  n8n = await startN8n(null);
  steps.end();
  browser = await launchBrowser();
  editor = await openEditor(browser, n8n);
}, 300_000);

afterAll(async () => {
  await browser?.close();
  await n8n?.close();
}, 60_000);

// Must be the first proof, while n8n has no workflow and no credential.
provesFirstEvent(() => ({ n8n, browser, editor }), steps);

describe('with a service and a credential', () => {
  let opened: Stage | undefined;
  const stage = () => opened!;
  beforeAll(async () => {
    opened = await openStage({ isFirstStart: true, n8n });
  });
  afterAll(() => opened?.close());

  provesFirstStart(stage);
  provesNodeSearch(stage, () => editor);
  provesPanels(stage, () => editor);
  provesConversationList(stage, () => editor);
  provesPublishFailures(stage, () => editor);
  provesPastedExample(stage, () => editor);
  provesAskingWorkflow(
    stage,
    () => editor,
    () => browser,
  );
});
