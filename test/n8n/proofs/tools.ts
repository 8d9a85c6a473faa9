import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isRunning, type Execution, type Workflow } from '../n8nServer.ts';
import {
  example,
  ownWorkflow,
  payloadOf,
  recordAllEvents,
  signature,
  type Customer,
  type Stage,
  type Tool,
} from '../stage.ts';
import { EXTENSION_EVENTS } from '../../../service/src/deliveries/event.ts';
import { payloadSchemas } from '../../../service/src/events/payloadContract.ts';
import { withWorkflow } from './withWorkflow.ts';

const TOOL_TRIGGER = 'Conversation Service Agent Call Trigger';
const findOrder = example('find-order-tool.json');
/** Answers by the Respond operation; fails for an order number that begins with F. */
const cancelOrder = ownWorkflow('cancel-order-tool');

interface ToolCall {
  tool_call_id: string;
  status: string;
  attempts: number;
  result: unknown;
  arguments: Record<string, unknown>;
}

/** One node makes a workflow a tool of the agent. */
export function provesTools(stage: () => Stage): void {
  const api = () => stage().service.api;
  const published: Workflow[] = [];

  const untilTool: Stage['untilTool'] = (name, status) => stage().untilTool(name, status);
  const publish = async (file: string, parameters: Record<string, unknown> = {}) => {
    const workflow = await stage().n8n.importWorkflow(file, stage().credential, parameters);
    published.push(workflow);
    await stage().n8n.activate(workflow.id);
    const trigger = workflow.nodes.find(({ name }) => name === TOOL_TRIGGER)!;
    await untilTool(trigger.parameters.toolName as string, 'live');
    return workflow;
  };
  const switchAgent = (enabled: boolean) => api().patch('/api/agent', { enabled });
  const envelopeOf = (execution: Execution) =>
    execution.output[TOOL_TRIGGER]?.[0] as Record<string, unknown> | undefined;
  const executionsIn = async (workflow: Workflow, conversationId: string) =>
    (await stage().n8n.executions(workflow.id)).filter(
      (execution) => envelopeOf(execution)?.conversation_id === conversationId,
    );
  const callsIn = async (conversationId: string) =>
    (await api().get(`/api/tool-calls?conversation_id=${conversationId}`)).body.data as ToolCall[];

  describe('a workflow as a tool of the agent', () => {
    const recorder = withWorkflow(stage, recordAllEvents, { events: [...EXTENSION_EVENTS] });
    /** The payload of an event as the recorder got it, which must have its documented shape. */
    const recorded = async (event: keyof typeof payloadSchemas, { conversationId }: Customer) => {
      const execution = await stage().execution(recorder(), event, conversationId);
      const { delivery_id: _, ...body } = payloadOf(execution)!;
      return payloadSchemas[event].parse(body);
    };

    beforeEach(() => switchAgent(true));
    afterEach(async () => {
      for (const { id } of published.splice(0)) await stage().n8n.deactivate(id);
      for (const { status, name } of (await api().get('/api/tools')).body.data as Tool[])
        if (status === 'live') await untilTool(name, 'paused');
    });
    afterAll(async () => {
      for (const { id } of (await api().get('/api/tools')).body.data as Tool[])
        await api().delete(`/api/tools/${id}`);
      // In the other proofs, workflows alone answer.
      await switchAgent(false);
    });

    it('goes live after one test call, is called for a customer, and the agent answers with what it returned', async () => {
      await switchAgent(false);
      const workflow = await publish(findOrder);
      expect(await executionsIn(workflow, 'conv_test')).toMatchObject([{ status: 'success' }]);
      // Publishing a tool switches nothing on for customers.
      expect((await api().get('/api/agent')).body.enabled).toBe(false);
      await switchAgent(true);

      const customer = await stage().customerWrites('Hello, where is my order A-1042?');
      expect(await customer.answers(1)).toEqual([
        'Order A-1042 is on its way and arrives on Tuesday.',
      ]);
      const [call] = await callsIn(customer.conversationId);
      expect(call).toMatchObject({
        status: 'succeeded',
        attempts: 1,
        arguments: { order_number: 'A-1042' },
      });
      const [execution] = await executionsIn(workflow, customer.conversationId);
      expect(envelopeOf(execution!)).toMatchObject({
        tool_call_id: call!.tool_call_id,
        tool: 'find_order',
        arguments: { order_number: 'A-1042' },
      });
    });

    it('asks for a missing argument first, also when the customer writes Spanish', async () => {
      await publish(findOrder);
      const customer = await stage().customerWrites('¿Dónde está mi pedido?');
      const [question] = await customer.answers(1);
      expect(question).toContain('The order number, such as A-1042');
      await customer.write('A-1043');
      expect((await customer.answers(2))[1]).toContain('A-1043 is being packed');
    });

    it('with approval on, waits until a person approves, then answers', async () => {
      const workflow = await publish(findOrder, { askBeforeRunning: true });
      const customer = await stage().customerWrites('Where is my order A-1042?');
      expect(await customer.answers(1)).toEqual([
        'A colleague has to confirm this first. I will write as soon as it is decided.',
      ]);
      const [call] = await callsIn(customer.conversationId);
      expect(call).toMatchObject({ status: 'pending_approval', attempts: 0 });
      expect((await api().get(`/api/conversations/${customer.conversationId}`)).body).toMatchObject(
        { pending_approvals: 1, status: 'ai_active' },
      );
      expect(await executionsIn(workflow, customer.conversationId)).toEqual([]);
      expect(await recorded('approval.requested', customer)).toMatchObject({
        approval: { tool_call_id: call!.tool_call_id },
      });

      expect((await api().post(`/api/tool-calls/${call!.tool_call_id}/approve`, {})).status).toBe(
        200,
      );
      expect((await customer.answers(2))[1]).toBe(
        'Order A-1042 is on its way and arrives on Tuesday.',
      );
      expect(await callsIn(customer.conversationId)).toMatchObject([
        { tool_call_id: call!.tool_call_id, status: 'succeeded' },
      ]);
      expect(await recorded('approval.decided', customer)).toMatchObject({
        approval: { tool_call_id: call!.tool_call_id },
      });
    });

    it('runs once when it fails, and the agent says that it was not done and offers a person', async () => {
      const workflow = await publish(cancelOrder);
      const customer = await stage().customerWrites('Please cancel order F-7');
      const [question] = await customer.answers(1);
      expect(question).toBe('Shall I cancel order F-7? Please answer yes or no.');
      await customer.write('yes');
      expect(await customer.answers(2)).toEqual([
        question,
        'I could not do that right now. Would you like a person to follow up?',
      ]);
      expect(await callsIn(customer.conversationId)).toMatchObject([
        { status: 'failed', attempts: 3 },
      ]);
      expect(await executionsIn(workflow, customer.conversationId)).toMatchObject([
        { status: 'error' },
      ]);

      await customer.write('Yes please');
      await stage().until('the handover', async () => {
        const { body } = await api().get(`/api/conversations/${customer.conversationId}`);
        return body.status === 'awaiting_human' && body.handover.reason === 'tool_failure';
      });
      expect(await recorded('conversation.awaiting_human', customer)).toMatchObject({
        handover: { reason: 'tool_failure' },
      });
    });

    it('answers by the Respond operation', async () => {
      await publish(cancelOrder);
      const customer = await stage().customerWrites('Please cancel order C-12');
      await customer.answers(1);
      await customer.write('yes');
      expect((await customer.answers(2))[1]).toMatch(/^Order C-12 is cancelled/);
    });

    it('is accepted at once when it answers on receiving the call', async () => {
      await publish(findOrder, { responseMode: 'onReceived' });
      const customer = await stage().customerWrites('Where is my order A-1042?');
      await customer.answers(1);
      expect(await callsIn(customer.conversationId)).toMatchObject([
        { status: 'succeeded', result: { status: 'accepted' } },
      ]);
    });

    it('runs once when the same call comes again during and after the run, and answers each the same', async () => {
      const workflow = await publish(cancelOrder);
      const { staticData } = await stage().n8n.api<Workflow>('GET', `/workflows/${workflow.id}`);
      const { secret } = staticData![`node:${TOOL_TRIGGER}`] as { secret: string };
      const body = JSON.stringify({
        tool_call_id: 'call_twice',
        tool: 'cancel_order',
        arguments: { order_number: 'C-2' },
        conversation_id: 'conv_twice',
      });
      const { endpoint } = (await stage().tool('cancel_order'))!;
      const send = (signedWith = secret) =>
        stage().n8n.call('POST', new URL(endpoint).pathname, {
          headers: {
            'content-type': 'application/json',
            'x-service-signature': signature(body, signedWith),
          },
          body,
        });
      const [first, second] = await Promise.all([send(), send()]);
      const third = await send();
      expect(first.status).toBe(200);
      expect([second.text, third.text]).toEqual([first.text, first.text]);
      await stage().until(
        'the execution',
        async () => (await executionsIn(workflow, 'conv_twice')).length > 0,
      );
      expect(await executionsIn(workflow, 'conv_twice')).toHaveLength(1);

      expect((await send('whsec_wrong')).status).toBe(401);
    });

    it('is paused by unpublishing, and publishing again brings it back under its id without another test call', async () => {
      const workflow = await publish(findOrder);
      const { id } = await untilTool('find_order', 'live');
      await stage().n8n.deactivate(workflow.id);
      await untilTool('find_order', 'paused');
      await stage().n8n.activate(workflow.id);
      expect((await untilTool('find_order', 'live')).id).toBe(id);
      expect(await executionsIn(workflow, 'conv_test')).toHaveLength(1);
      const customer = await stage().customerWrites('Where is my order A-1042?');
      await customer.answers(1);
    });

    it('is tested again after a change', async () => {
      const workflow = await publish(findOrder);
      await stage().n8n.edit(workflow.id, {
        toolDescription: 'Finds an order.',
        timeout: 25,
        toolName: 'find_my_order',
      });
      await untilTool('find_my_order', 'live');
      await stage().until(
        'the second test call',
        async () => (await executionsIn(workflow, 'conv_test')).length === 2,
      );
      expect(await stage().tool('find_order')).toBeUndefined();
    });

    it('gets a test call while it listens for a test event, through a draft of its own that is gone afterwards', async () => {
      const workflow = await publish(findOrder);
      await stage().n8n.listen(workflow.id, TOOL_TRIGGER);
      const [execution] = await stage().until('the test execution', async () => {
        const found = (await stage().n8n.executions(workflow.id)).filter(
          (each) => each.mode === 'manual' && !isRunning(each),
        );
        return found.length > 0 && found;
      });
      expect(envelopeOf(execution!)).toMatchObject({
        conversation_id: 'conv_test',
        is_test: true,
        arguments: { order_number: 'A-1042' },
      });
      expect((await api().get('/api/tool-calls?tool=find_order_test')).body.data).toMatchObject([
        { tool_call_id: envelopeOf(execution!)!.tool_call_id },
      ]);
      await stage().until(
        'the draft to be gone',
        async () => (await stage().tool('find_order_test')) === undefined,
      );
      expect(await stage().tool('find_order')).toMatchObject({ status: 'live' });
    });
  });
}
