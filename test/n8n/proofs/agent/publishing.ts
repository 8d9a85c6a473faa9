import { afterEach, describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import type { Workflow } from '../../n8nServer.ts';
import { ownWorkflow, type Customer, type Stage } from '../../stage.ts';
import { agentRunner, AGENT_TRIGGER } from './agentRunner.ts';

const byLastNode = ownWorkflow('answering-agent');
const byOperations = ownWorkflow('answering-agent-operations');

/** Publishing a workflow makes it the agent. Only one workflow at a time can be the agent. */
export function provesAgentPublishing(stage: () => Stage): void {
  describe('a workflow as the agent', () => {
    const { publish, untilTurn, executionsOf } = agentRunner(stage);
    const api = () => stage().service.api;
    const refused: Workflow[] = [];
    afterEach(async () => {
      for (const { id } of refused.splice(0)) await stage().n8n.deactivate(id);
    });
    const getAnswered = async (text: string): Promise<Customer> => {
      const customer = await stage().customerWrites(text);
      expect(await customer.answers(1)).toEqual([`You wrote: ${text}`]);
      return customer;
    };

    describe('that is published', () => {
      it('turns the agent on: a message starts one execution, whose last node answers', async () => {
        const workflow = await publish(byLastNode);
        expect((await api().get('/api/agent')).body).toMatchObject({
          enabled: true,
          decided_by: 'webhook',
        });
        const customer = await getAnswered('Where is my order?');
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
        const first = await publish(byLastNode);
        const second = await stage().n8n.importWorkflow(byOperations, stage().credential);
        refused.push(second);
        await stage().n8n.activate(second.id);
        const error = await stage().until('the refusal', () =>
          stage().n8n.publishingError(second.id),
        );
        expect(error).toContain(
          `The agent is the workflow "${first.name}" of the n8n at localhost:${stage().n8n.port}`,
        );
        expect(error).toContain('turn on the option "Take Over From Another n8n"');
        await stage().n8n.deactivate(second.id);
        await getAnswered('Who answers?');
      });
    });

    describe('whose step is executed', () => {
      it('takes what is written under "Try it", and nothing of a customer', async () => {
        const workflow = await publish(byLastNode);
        const member = await signedInBrowser(stage().service.url);
        const isListening = async (path = '/agent') =>
          (await member.get(path)).text.includes('listens for a test event');
        expect(await stage().n8n.listen(workflow.id, AGENT_TRIGGER)).toMatchObject({
          waitingForWebhook: true,
        });
        await stage().until('the editor to listen', () => isListening());
        const customer = await getAnswered('Am I a test?');

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
        expect(executions.map(({ mode }) => mode)).toEqual(['webhook', 'manual']);
        const [ofCustomer, ofTry] = executions;
        expect(ofCustomer!.output[AGENT_TRIGGER]![0]!.turn_id).not.toBe(turn);
        expect(ofTry!.output[AGENT_TRIGGER]![0]).toMatchObject({
          turn_id: turn,
          is_test: true,
          chatInput: 'This is a test',
          // A session for each try, so that the memory of an AI Agent holds no other try.
          sessionId: turn,
        });
        await stage().until('the editor to stop listening', async () => !(await isListening()));
        await customer.write('And afterwards?');
        expect(await customer.answers(2)).toContain('You wrote: And afterwards?');
      });
    });
  });
}
