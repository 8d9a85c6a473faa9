import { describe, expect, it } from '@jest/globals';
import { TEST_NUMBER } from '../../../helpers/graphServer.ts';
import { connectNumber, deliver, metaText } from '../../../helpers/meta.ts';
import { text, toolCalls } from '../../../helpers/modelServer.ts';
import { agentRunner } from '../agent/agentRunner.ts';
import { lastText, userTexts, withChatModel } from '../../chatModel.ts';
import { example, type Stage } from '../../stage.ts';

/** n8n's AI Agent is the agent. guard.ts proves that no workflow answers beside a person. */
export function provesAiAgent(stage: () => Stage): void {
  const api = () => stage().service.api;

  describe('ai-agent', () => {
    const model = withChatModel();
    const { publishForAll, untilExecutions, statusOf, untilTurn } = agentRunner(stage);
    const workflow = publishForAll(example('ai-agent.json'), (node) =>
      model().connect(stage().n8n, node('OpenAI Chat Model')),
    );

    it('answers a burst once, looks up an order, and remembers the conversation', async () => {
      model().answerBy((request) => {
        const isToolResult = request.body.messages.at(-1)!.role === 'tool';
        if (isToolResult) return text(lastText(request));
        if (lastText(request).includes('1042'))
          return toolCalls({ name: 'Look_up_an_order', arguments: { input: '1042' } });
        return text(`You wrote: ${userTexts(request).join(' / ')}`);
      });
      const customer = await stage().customerWrites('Hello', { name: 'Grace' });
      await customer.write('Where is my order?');
      await customer.write('It is 1042');
      expect(await customer.answers(1)).toEqual([
        expect.stringContaining('Order 1042 is on its way and arrives on Tuesday.'),
      ]);
      expect(await untilExecutions(workflow(), customer, 1)).toHaveLength(1);
      await customer.write('Thank you');
      const burst = 'Hello\nWhere is my order?\nIt is 1042';
      expect((await customer.answers(2))[1]).toBe(`You wrote: ${burst} / Thank you`);
      const instructions = String(model().requests.at(-1)!.body.messages[0]!.content);
      expect(instructions).toContain('in a chat with Grace');
      expect(instructions).toContain('arrives on Tuesday');
    });

    it('gives the conversation to a person', async () => {
      model().answerBy((request) =>
        lastText(request).includes('refund')
          ? toolCalls({ name: 'Get_a_person', arguments: { note: 'Wants a refund' } })
          : text('A colleague takes over.'),
      );
      const customer = await stage().customerWrites('I would like a refund');
      await untilTurn(customer, 'answered');
      expect(await customer.answers(1)).toEqual(['A colleague will answer you here.']);
      expect(await statusOf(customer)).toBe('awaiting_human');
      const { handover } = (await api().get(`/api/conversations/${customer.conversationId}`)).body;
      expect(handover).toMatchObject({ note: expect.stringContaining('Wants a refund') });
    });

    it('answers on WhatsApp', async () => {
      model().answerBy((request) => text(`You wrote: ${lastText(request)}`));
      const number = await connectNumber(api(), {
        account: TEST_NUMBER.id,
        accessToken: stage().graph.accessToken,
      });
      // A phone number of its own, so that no other proof finds this conversation open.
      const question = metaText('Do you repair tents?', { phone: '16505550199' });
      await deliver(stage().service.url, number, question);
      await stage().until('the answer on WhatsApp', () =>
        stage().graph.texts().includes('You wrote: Do you repair tents?'),
      );
      await api().delete(`/api/channels/${number.id}`);
    });
  });
}
