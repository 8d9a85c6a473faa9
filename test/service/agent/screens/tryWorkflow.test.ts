// "Try it" with a workflow: the answer is shown, however it comes, and reaches no customer.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  accepts,
  answers,
  OWNER,
  ownerQuery,
  says,
  startWorkflowServer,
  startWorkflowStage,
  type WorkflowServer,
  type WorkflowStage,
} from '../webhook/workflowStage.ts';

const HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>';

let stage: WorkflowStage;
/** The server of an n8n editor that listens for a test event. */
let editor: WorkflowServer;
let browser: Browserless;
beforeAll(async () => {
  stage = await startWorkflowStage({ env: MEMBER_ENV });
  editor = await startWorkflowServer();
  browser = await signedInBrowser(stage.service.url);
});
beforeEach(() => {
  stage.workflow.forget();
  editor.forget();
});
afterAll(async () => {
  await stage?.close();
  await editor?.close();
});

const listen = async () => {
  const listening = { endpoint: editor.url, owner: OWNER };
  editor.secret = (await stage.api.put('/api/agent/test-webhook', listening)).body.secret;
};
const stopListening = () => stage.api.delete(`/api/agent/test-webhook?${ownerQuery()}`);

/** Writes under "Try it". @returns what the page shows once it holds these words */
async function tryIt(text: string, until: string | RegExp): Promise<string> {
  await browser.post('/agent/try', { text });
  return shown(until);
}
const shown = (until: string | RegExp) =>
  waitFor(
    `the page to show ${until}`,
    async () => {
      const [{ turn_id: id }] = (await stage.api.get('/api/agent-turns')).body.data;
      const page = await browser.get(`/agent?turn=${id}`);
      expect(page.html).not.toMatch(/<script>|<img src=x/);
      return page.text.match(until) ? page.text : null;
    },
    { everyMs: 20 },
  );

it('shows each message that would be sent, in a turn that is marked as a test', async () => {
  stage.workflow.answer(says('Hello.', `How are you? ${HOSTILE}`));
  const page = await tryIt('Hi there', 'It would reply');
  expect(page).toContain('Hello. Assistant How are you?');
  const { body } = await stage.workflow.turn();
  expect(body).toMatchObject({
    is_test: true,
    conversation_id: 'conv_test',
    sessionId: expect.stringMatching(/^turn_/),
    chatInput: 'Hi there',
    messages: [{ text: 'Hi there', sender: { type: 'customer' } }],
    history: [],
  });
  expect(stage.workflow.faults).toEqual([]);
});

it.each<[string, unknown, string]>([
  [
    'a hand-over with its note',
    { hand_over: { reason: 'customer_request', note: 'Wants a refund.' } },
    'It would hand over to a person The customer asked for a person. Note for the team: Wants a refund.',
  ],
  [
    'a close after a message',
    { reply: 'Bye.', close: { verdict: 'goal_reached', summary: 'Done.' } },
    'It would reply Bye. Assistant It would close the conversation as goal reached : Done.',
  ],
  ['silence', {}, 'It would say nothing'],
  ['nonsense', { nonsense: true }, 'The workflow gave no answer'],
])('shows %s in words', async (_what, answer, words) => {
  stage.workflow.answer(answers(answer));
  expect(await tryIt('Hi', words)).toContain(words);
});

it('begins with the greeting, as the first message to a customer does', async () => {
  await stage.api.patch('/api/agent', { greeting: 'Welcome to Lamps & Co.' });
  stage.workflow.answer(says('Hello.'));
  expect(await tryIt('Hi', 'It would reply')).toContain('Welcome to Lamps & Co. Hello.');
  await stage.api.patch('/api/agent', { greeting: '' });
});

it('shows in words why the workflow failed', async () => {
  stage.workflow.answer(answers({ message: 'Error in workflow' }, 500));
  expect(await tryIt('Hi', 'The workflow gave no answer')).toMatch(
    /answered 500: .*Error in workflow/,
  );
});

it('shows what it had replied before it failed', async () => {
  let call: ServerResponse | undefined;
  stage.workflow.answer((res) => void (call = res));
  await tryIt('Hi', 'The workflow is working on its answer');
  const { turn_id: id } = (await stage.workflow.turn()).body;
  await stage.operate(id, 'replies', { text: 'One moment.', more_follows: true });
  call!.writeHead(500).end();
  const page = await shown('The workflow did not finish its answer');
  expect(page).toContain('One moment. Assistant');
  expect(page).not.toContain('gave no answer');
});

/** A try that the workflow accepts. @returns the turn's id */
async function begin(): Promise<string> {
  stage.workflow.answer(accepts);
  await tryIt('Hi', 'The workflow is working on its answer');
  return (await stage.workflow.turn()).body.turn_id;
}

it('shows what comes by the API, message by message', async () => {
  const id = await begin();
  await stage.operate(id, 'replies', { text: 'One moment.', more_follows: true });
  expect(await shown('One moment.')).toContain('The workflow is working on its answer');
  await stage.operate(id, 'replies', { text: 'Here it is.' });
  expect(await shown('It would reply')).toContain('One moment. Assistant Here it is. Assistant');
  expect((await stage.operate(id, 'replies', { text: 'Late.' })).body.error.code).toBe(
    'turn_superseded',
  );
});

describe('a workflow that asks in a try', () => {
  /** As the nodes ask: about the conversation in the trigger's output, or about none. */
  const ask = (kind: string, turnId: string, about: { conversation_id?: string }) =>
    stage.api.post('/api/waits', {
      kind,
      turn_id: turnId,
      message: 'Which order?',
      resume_url: `${stage.workflow.url}/rests/${crypto.randomUUID()}`,
      ...about,
    });
  const WAYS = [{}, { conversation_id: 'conv_test' }];

  it.each(WAYS)('a customer, is told that a try has none (%j)', async (about) => {
    const id = await begin();
    const { status, body } = await ask('reply', id, about);
    expect([status, body.error.code]).toEqual([409, 'try_without_customer']);
    expect(body.error.message).toBe(
      `Turn ${id} is a test by the team, in which there is no customer to ask. To see a workflow ask a customer, publish it, and write in the chat.`,
    );
    expect((await stage.operate(id, 'replies', { text: 'Then not.' })).status).toBe(201);
  });

  it.each(WAYS)('the team, has a card of the workspace and goes on (%j)', async (about) => {
    const id = await begin();
    const { status, body: wait } = await ask('decision', id, about);
    expect([status, wait.conversation_id]).toEqual([201, null]);
    expect(await shown('The workflow waits for')).toContain('a customer or a colleague');
    await stage.api.post(`/api/waits/${wait.id}/decide`, { approved: true });
    expect((await stage.api.post(`/api/waits/${wait.id}/collect`)).body.status).toBe('approved');
    await stage.operate(id, 'replies', { text: 'Done.' });
    expect(await shown('It would reply')).toContain('Done.');
  });
});

it('a try goes to the editor while that listens, also when another brain answers customers', async () => {
  await stage.api.patch('/api/agent', { use_webhook: false });
  await listen();
  editor.answer(says('From the editor.'));
  expect(await tryIt('Hi', 'It would reply')).toContain('From the editor.');
  expect(editor.faults).toEqual([]);
  await stage.api.patch('/api/agent', { use_webhook: true });
  expect(await tryIt('Hi', 'It would reply')).toContain('From the editor.');
  expect([editor.turns.length, stage.workflow.turns.length]).toEqual([2, 0]);

  const customer = await chatCustomer(stage.service.url);
  await customer.write('Hello');
  expect((await stage.workflow.turn()).body.is_test).toBeUndefined();
  expect(editor.turns).toHaveLength(2);
  await stopListening();
  stage.workflow.answer(says('From the published one.'));
  expect(await tryIt('Hi', 'It would reply')).toContain('From the published one.');
});

it('a try leaves the conversations as they are', async () => {
  const before = (await stage.api.get('/api/conversations')).body.data;
  stage.workflow.answer(says('Hello.'));
  await tryIt('Hi', 'It would reply');
  expect((await stage.api.get('/api/conversations')).body.data).toEqual(before);
});
