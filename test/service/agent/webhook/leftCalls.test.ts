// Tool calls that the service began before a workflow became the agent.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { text, toolCalls } from '../../../helpers/modelServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { answers, startAgentService, type AgentService } from '../agentService.ts';
import { accepts, OWNER, startWorkflowServer, type WorkflowServer } from './workflowStage.ts';

let agent: AgentService;
let workflow: WorkflowServer;
beforeAll(async () => {
  agent = await startAgentService();
  workflow = await startWorkflowServer();
});
afterAll(async () => {
  await agent?.close();
  await workflow?.close();
});

it('a tool call that began before is reported to the customer by the service; the workflow gets no turn for it', async () => {
  await agent.tool('refund', { ask_before_running: true });
  agent.tools.on('refund', answers({ message: 'Refunded.' }));
  agent.model.answerBy(({ body }) =>
    body.messages.at(-1)!.role === 'user' ? toolCalls({ name: 'refund' }) : text('One moment.'),
  );
  const talk = await agent.talk('refund me');
  const call = await talk.call(({ status }) => status === 'pending_approval');
  await talk.reply();

  const { api } = agent.service;
  const webhook = { endpoint: workflow.url, owner: OWNER, turn_on: true };
  workflow.secret = (await api.put('/api/agent/webhook', webhook)).body.secret;
  workflow.answer(accepts);
  await talk.write('and where is my parcel?');
  const { body: turn } = await workflow.turn();
  await api.post(`/api/tool-calls/${call.tool_call_id}/approve`, {});
  expect(await talk.reply(2)).toContain('Refunded.');

  expect(turn.messages.map(({ text: words }: { text: string }) => words)).toEqual([
    'and where is my parcel?',
  ]);
  const answer = { text: 'It comes on Tuesday.' };
  const sent = await api.post(`/api/agent-turns/${turn.turn_id}/replies`, answer);
  expect(sent.status).toBe(201);
  await waitFor('the answer', async () => (await talk.replies()).length === 3);
  expect(workflow.turns).toHaveLength(1);
});
