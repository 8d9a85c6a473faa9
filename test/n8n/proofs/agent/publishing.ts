import { afterEach, describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import type { Workflow } from '../../n8nServer.ts';
import { ownWorkflow, type Customer, type Stage } from '../../stage.ts';
import { agentRunner, AGENT_TRIGGER } from './agentRunner.ts';

const answering = ownWorkflow('answering-agent');
const byOperations = ownWorkflow('answering-agent-operations');

/** Publishing a workflow makes it the agent, and only one at a time; unpublishing gives it up. */
export function provesAgentPublishing(stage: () => Stage): void {
  describe('a workflow as the agent', () => {
    const { publish, untilTurn, executionsOf } = agentRunner(stage);
    const api = () => stage().service.api;
    const others: Workflow[] = [];
    afterEach(async () => {
      for (const { id } of others.splice(0)) await stage().n8n.deactivate(id);
    });
    const isAnswered = async (text: string): Promise<Customer> => {
      const customer = await stage().customerWrites(text);
      expect(await customer.answers(1)).toEqual([`You wrote: ${text}`]);
      return customer;
    };

    describe('that is published', () => {
      it('turns the agent on: a message starts one execution, whose last node answers', async () => {
        const workflow = await publish(answering);
        expect((await api().get('/api/agent')).body).toMatchObject({
          enabled: true,
          decided_by: 'webhook',
        });
        const customer = await isAnswered('Where is my order?');
        const executions = await executionsOf(workflow, customer);
        expect(executions).toHaveLength(1);
        const [turn] = executions[0]!.output[AGENT_TRIGGER]!;
        expect(turn).toMatchObject({
          turn_id: expect.stringMatching(/^turn_/),
          chatInput: 'Where is my order?',
          sessionId: customer.conversationId,
          messages: [{ text: 'Where is my order?' }],
          history: [],
          transcript: expect.any(String),
          conversation: { id: customer.conversationId },
        });
      });

      it('by operations, answers in several messages and hands over', async () => {
        await publish(byOperations);
        const customer = await stage().customerWrites('I want a refund');
        expect(await customer.answers(2)).toEqual(['One moment.', 'A colleague will answer you.']);
        await untilTurn(customer, 'answered');
        expect(
          (await api().get(`/api/conversations/${customer.conversationId}`)).body,
        ).toMatchObject({
          status: 'awaiting_human',
          handover: { reason: 'customer_request', note: 'Wrote: I want a refund' },
        });
      });

      it('is refused while another workflow is the agent, with its name, and that one goes on', async () => {
        const first = await publish(answering);
        const second = await stage().n8n.importWorkflow(byOperations, stage().credential);
        others.push(second);
        await stage().n8n.activate(second.id);
        const error = await stage().until('the refusal', () =>
          stage().n8n.publishingError(second.id),
        );
        expect(error).toContain(
          `The agent is the workflow "${first.name}" of the n8n at localhost:${stage().n8n.port}`,
        );
        expect(error).toContain('turn on the option "Take Over From Another n8n"');
        await stage().n8n.deactivate(second.id);
        await isAnswered('Who answers?');
      });
    });

    describe('whose step is executed', () => {
      it('takes what is written under "Try it", and nothing of a customer', async () => {
        const workflow = await publish(answering);
        const member = await signedInBrowser(stage().service.url);
        const listens = async (path = '/agent') =>
          (await member.get(path)).text.includes('listens for a test event');
        expect(await stage().n8n.listen(workflow.id, AGENT_TRIGGER)).toMatchObject({
          waitingForWebhook: true,
        });
        await stage().until('the editor to listen', () => listens());
        const customer = await isAnswered('Am I a test?');

        const { path } = await member.post('/agent/try', { text: 'This is a test' });
        const turn = /turn=(turn_\w+)/.exec(path)![1]!;
        await stage().until('the answer', async () =>
          (await member.get(path)).text.includes('You wrote: This is a test'),
        );
        expect((await api().get(`/api/agent-turns/${turn}`)).body).toMatchObject({
          status: 'answered',
          is_test: true,
          conversation_id: 'conv_test',
        });
        const executions = await stage().until('both executions', async () => {
          const found = await stage().n8n.executions(workflow.id);
          return found.length >= 2 && found.every(({ output }) => output[AGENT_TRIGGER]) && found;
        });
        expect(
          executions.map(({ mode, output }) => [mode, output[AGENT_TRIGGER]![0]!.turn_id === turn]),
        ).toEqual([
          ['webhook', false],
          ['manual', true],
        ]);
        expect(executions[1]!.output[AGENT_TRIGGER]![0]).toMatchObject({
          is_test: true,
          chatInput: 'This is a test',
          // The memory of an AI Agent knows nothing of other tries.
          sessionId: turn,
        });
        await stage().until('the editor to listen no more', async () => !(await listens()));
        await customer.write('And afterwards?');
        expect(await customer.answers(2)).toContain('You wrote: And afterwards?');
      });
    });
  });
}
