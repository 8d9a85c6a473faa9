// The customer sees somebody typing while a workflow has the turn, and nobody while the workflow
// waits.
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../../helpers/apiClient.ts';
import { readChatStream, type ChatStreamReader } from '../../../helpers/chatStreamReader.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { accepts, startWorkflowStage, type WorkflowStage } from './workflowStage.ts';

let stage: WorkflowStage;
let stream: ChatStreamReader;
beforeAll(async () => {
  stage = await startWorkflowStage();
});
afterEach(() => stream.close());
afterAll(() => stage?.close());

/** A customer has written, and the workflow has accepted the turn. */
async function begin(): Promise<{ customer: ChatCustomer; conversationId: string; turn: string }> {
  stage.workflow.forget();
  stage.workflow.answer(accepts);
  const customer = await chatCustomer(stage.service.url);
  const { conversation_id: conversationId } = await customer.write('Hello');
  const { body } = await stage.workflow.turn();
  // A stream opened earlier could tell the typing first: it reads messages, then who types.
  stream = await readChatStream(stage.service.url, customer.token);
  await untilTold('Hello', 'typing');
  return { customer, conversationId, turn: body.turn_id };
}

const untilTold = (...what: string[]) =>
  waitFor(`the stream to tell ${what.join(', ')}`, () =>
    what.every((each, at) => stream.told[at] === each),
  );

it('typing goes on after a message with more to follow, and ends with the turn', async () => {
  const { turn } = await begin();
  await stage.operate(turn, 'replies', { text: 'One moment.', more_follows: true });
  await untilTold('Hello', 'typing', 'One moment.', 'typing');
  await stage.operate(turn, 'end');
  await untilTold('Hello', 'typing', 'One moment.', 'typing', 'not typing');
});

it('typing ends when a person takes over', async () => {
  const { conversationId } = await begin();
  await stage.api.post(`/api/conversations/${conversationId}/takeover`, {});
  await untilTold('Hello', 'typing', 'not typing');
});

it('typing ends while the workflow waits for the customer, and begins again with the answer', async () => {
  const { customer, conversationId, turn } = await begin();
  const { body: wait } = await stage.api.post('/api/waits', {
    kind: 'reply',
    conversation_id: conversationId,
    turn_id: turn,
    message: 'Which order?',
    resume_url: `${stage.workflow.url}/rests/1`,
  });
  // The page stops showing the typing when the question arrives.
  await untilTold('Hello', 'typing', 'Which order?');
  await customer.write('A-1042');
  await untilTold('Hello', 'typing', 'Which order?', 'A-1042');
  await waitFor(
    'the answer',
    async () => (await stage.api.get(`/api/waits/${wait.id}`)).body.status === 'answered',
  );
  expect(stream.told).toEqual(['Hello', 'typing', 'Which order?', 'A-1042']);
  await stage.api.post(`/api/waits/${wait.id}/collect`);
  await untilTold('Hello', 'typing', 'Which order?', 'A-1042', 'typing');
  await stage.operate(turn, 'replies', { text: 'It leaves today.' });
  await untilTold('Hello', 'typing', 'Which order?', 'A-1042', 'typing', 'It leaves today.');
});
