import { describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import { text, toolCalls } from '../../../helpers/modelServer.ts';
import type { Workflow } from '../../n8nServer.ts';
import { agentRunner } from '../agent/agentRunner.ts';
import { lastText, withChatModel } from '../../chatModel.ts';
import { example, type Customer, type Stage } from '../../stage.ts';

/** The examples that are the agent and wait for the customer or the team. */
export function provesWaiting(stage: () => Stage): void {
  const api = () => stage().service.api;
  const { publish, publishForAll, untilExecutions, executionsOf, statusOf } = agentRunner(stage);
  /** The card that waits for the team in a conversation. */
  const card = ({ conversationId }: Customer) =>
    stage().until('the card', async () => {
      const { body } = await api().get(
        `/api/waits?kind=decision&status=open&conversation_id=${conversationId}`,
      );
      return body.data[0] as { id: string; message: string; details: unknown };
    });
  const decide = (id: string, decision: { approved: boolean; note?: string }) =>
    api().post(`/api/waits/${id}/decide`, decision);

  describe('refund', () => {
    /** A customer whom the workflow has asked for the order number. */
    const askedForNumber = async () => {
      const customer = await stage().customerWrites('I want my money back');
      expect((await customer.answers(1))[0]).toContain('What is the number of the order?');
      return customer;
    };

    /** Waits until the execution of a conversation has ended and has reached a node. */
    const untilReached = (workflow: Workflow, customer: Customer, name: string) =>
      stage().until(`"${name}" to be reached`, async () =>
        (await executionsOf(workflow, customer)).find(
          ({ status, output }) => status === 'success' && output[name],
        ),
      );

    describe('as it is', () => {
      const workflow = publishForAll(example('refund.json'));

      it('asks for the order number until it gets one, then asks the team, and refunds', async () => {
        const customer = await askedForNumber();
        await customer.write('The tent');
        expect((await customer.answers(2))[1]).toBe('Please send the number alone, such as 1042.');
        await customer.write('1042');
        const { id, message, details } = await card(customer);
        expect(message).toBe('Refund order 1042?');
        expect(details).toEqual({
          Order: 1042,
          Item: 'Tent for two',
          Amount: '129.00 EUR',
          'The customer wrote': 'I want my money back',
        });
        await decide(id, { approved: true });
        expect((await customer.answers(3))[2]).toMatch(/^Order 1042 is refunded: 129.00 EUR/);
        const [execution] = await untilExecutions(workflow(), customer, 1);
        expect(execution).toMatchObject({ status: 'success' });
        expect(execution!.output['Refund it']).toHaveLength(1);
        expect(await statusOf(customer)).toBe('ai_active');
      });

      it('says that the request is with the team when the customer writes before it is decided', async () => {
        const customer = await askedForNumber();
        await customer.write('1042');
        const { id } = await card(customer);
        await customer.write('Thanks! I want my money back soon');
        expect((await customer.answers(2))[1]).toBe(
          'Your request is with our team. We will write to you here as soon as it is decided.',
        );
        await decide(id, { approved: true });
        expect((await customer.answers(3))[2]).toMatch(/^Order 1042 is refunded/);
      });

      it('tells the team when it has refunded and cannot tell the customer', async () => {
        const customer = await askedForNumber();
        await customer.write('1042');
        const { id } = await card(customer);
        await api().post(`/api/conversations/${customer.conversationId}/takeover`, {});
        await decide(id, { approved: true });
        await untilReached(workflow(), customer, 'Tell the team');
        const ana = await signedInBrowser(stage().service.url);
        const { text: thread } = await ana.get(`/conversations/${customer.conversationId}`);
        expect(thread).toContain(
          'Order 1042 was refunded after the approval; the customer has not been told.',
        );
        expect(await customer.answers(1)).toHaveLength(1);
      });

      it('gives the conversation to a person when the team rejects the refund', async () => {
        const customer = await askedForNumber();
        await customer.write('1043');
        const { id } = await card(customer);
        await decide(id, { approved: false, note: 'Bought a year ago' });
        await customer.answers(2);
        await stage().until(
          'the conversation to wait for a person',
          async () => (await statusOf(customer)) === 'awaiting_human',
        );
        const [execution] = await untilExecutions(workflow(), customer, 1);
        expect(execution!.output['Refund it']).toBeUndefined();
      });

      it('says nothing when a person takes over while it waits for the number', async () => {
        const customer = await askedForNumber();
        await api().post(`/api/conversations/${customer.conversationId}/takeover`, {});
        await untilReached(workflow(), customer, 'Somebody was faster');
        expect(await customer.answers(1)).toHaveLength(1);
      });
    });

    it('gives the conversation to a person when no order number comes, and looks for no order', async () => {
      const workflow = await publish(example('refund.json'), (node) => {
        const { parameters } = node('Ask for the order number');
        Object.assign(parameters, { timeLimit: 0.05, timeLimitUnit: 'minutes', options: {} });
      });
      const customer = await askedForNumber();
      expect((await customer.answers(2))[1]).toContain('I do not have the number of your order.');
      const { body } = await api().get(`/api/conversations/${customer.conversationId}`);
      expect(body).toMatchObject({
        status: 'awaiting_human',
        handover: {
          note: expect.stringMatching(/^Wants a refund\. There was no answer.*expired$/),
        },
      });
      const { output } = await untilReached(workflow, customer, 'No order number');
      expect(output['Find the order']).toBeUndefined();
      expect(output['Somebody was faster']).toBeUndefined();
    });
  });

  describe('ai-agent-with-review', () => {
    const model = withChatModel();
    publishForAll(example('ai-agent-with-review.json'), (node) =>
      model().connect(stage().n8n, node('OpenAI Chat Model')),
    );
    const wantsRefund = async () => {
      model().answerBy((request) =>
        request.body.messages.at(-1)!.role === 'tool'
          ? text(`Done: ${lastText(request)}`)
          : toolCalls({
              name: 'Refund_an_order',
              arguments: { toolParameters: { input: '1042' }, hitlParameters: {} },
            }),
      );
      const customer = await stage().customerWrites('Please refund order 1042');
      const { id, message } = await card(customer);
      expect(message).toMatch(/^May the AI Agent do this: Refund.an.order\?$/);
      return { customer, id };
    };

    it('refunds after a colleague approved', async () => {
      const { customer, id } = await wantsRefund();
      await decide(id, { approved: true });
      expect(await customer.answers(1)).toEqual([
        expect.stringContaining('Order 1042 is refunded'),
      ]);
    });

    it('does nothing after a rejection, and the AI Agent reads the note', async () => {
      const { customer, id } = await wantsRefund();
      await decide(id, { approved: false, note: 'Bought a year ago' });
      const [said] = await customer.answers(1);
      expect(said).toContain('Bought a year ago');
      expect(said).not.toContain('is refunded');
    });
  });
}
