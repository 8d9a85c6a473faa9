// Whatever goes wrong with a turn, the team reads why: in the conversation and on the agent's screen.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  answers,
  ownerQuery,
  startWorkflowStage,
  type Talk,
  type WorkflowStage,
} from './workflowStage.ts';

let stage: WorkflowStage;
let browser: Browserless;
let skewMs = 0;
beforeAll(async () => {
  const clock = { now: () => new Date(Date.now() + skewMs) };
  stage = await startWorkflowStage({ env: MEMBER_ENV, clock });
  browser = await signedInBrowser(stage.service.url);
});
beforeEach(async () => {
  stage.workflow.forget();
  await stage.publish({ timeout: 5 });
  skewMs += 120_000; // the publication is no longer new
});
afterAll(() => stage?.close());

async function expectShown(talk: Talk): Promise<string> {
  const { problem } = await talk.turnIn('failed');
  const thread = (await browser.get(`/conversations/${talk.id}`)).text;
  expect(thread).toContain(`handed over to a person: it ran into an error (${problem})`);
  expect((await browser.get('/agent')).text).toContain(`failed ${problem}`);
  return problem;
}

it('an error of the workflow', async () => {
  stage.workflow.answer(answers({ message: 'Error in workflow' }, 500));
  const talk = await stage.talk('Hello', { name: 'Ada' });
  expect(await expectShown(talk)).toMatch(/Error in workflow/);
});

it('a turn that was accepted and never answered', async () => {
  const { talk } = await stage.acceptedTurn();
  skewMs += 10_000;
  expect(await expectShown(talk)).toMatch(/in time/);
});

it('a workflow that is unpublished and not published again', async () => {
  await stage.api.delete(`/api/agent/webhook?${ownerQuery()}`);
  const talk = await stage.talk('Hello');
  await waitFor('the turn to wait', async () => (await talk.turns())[0]?.problem);
  skewMs += 61_000;
  expect(await expectShown(talk)).toBe('No workflow is published as the agent.');
});

it('a note of the workflow stands beside its hand-over', async () => {
  stage.workflow.answer(answers({ hand_over: { note: 'Asks about a <b>contract</b>.' } }));
  const talk = await stage.talk('Hello');
  await talk.turnIn('answered');
  expect((await browser.get(`/conversations/${talk.id}`)).text).toContain(
    'it did not know the answer (Asks about a <b>contract</b>.)',
  );
});
