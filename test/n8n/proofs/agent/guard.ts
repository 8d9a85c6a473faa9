import { describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import type { Stage } from '../../stage.ts';
import { AGENT_TRIGGER } from './agentRunner.ts';
import { wasRefused, WAYS, withThinking } from './thinking.ts';
import { gate, type TurnInput } from './thinkingServer.ts';

/** A workflow that is the agent answers a burst once, and never talks over anybody. */
export function provesGuard(stage: () => Stage): void {
  describe.each(WAYS)('a workflow that is the agent and answers by %s', (way) => {
    const thinking = withThinking(stage);
    const { untilTurn, untilExecutions } = thinking;
    const workflow = thinking.publishAgentForAllTests(way);
    const texts = async (customer: { read(): Promise<{ text: string }[]> }) =>
      (await customer.read()).map(({ text }) => text);

    it('answers three messages in a burst by one execution and one reply', async () => {
      thinking.server.answerBy(({ chatInput }) => ({ reply: `You wrote: ${chatInput}` }));
      const burst = ['Hello', 'I have a question', 'Where is my order?'];
      const customer = await stage().customerWrites(burst[0]!, { name: 'Grace' });
      for (const text of burst.slice(1)) await customer.write(text);
      await untilTurn(customer, 'answered');
      expect(await texts(customer)).toEqual([...burst, `You wrote: ${burst.join('\n')}`]);
      const [execution] = await untilExecutions(workflow(), customer, 1);
      const [turn] = execution!.output[AGENT_TRIGGER] as unknown as [TurnInput];
      expect(turn.messages.map(({ text }) => text)).toEqual(burst);
      expect(turn.sessionId).toBe(customer.conversationId);

      await customer.write('And which one?');
      await untilTurn(customer, 'answered', 2);
      expect((await texts(customer)).at(-1)).toBe('You wrote: And which one?');
      // n8n stores an execution only after its last node, so perhaps after the reply has arrived.
      expect(await untilExecutions(workflow(), customer, 2)).toHaveLength(2);
    });

    it('sends nothing when a person took over while it ran', async () => {
      const asked = gate();
      const answer = gate();
      thinking.server.answerBy(async () => {
        asked.open();
        await answer.opened;
        return { reply: 'Too late' };
      });
      const customer = await stage().customerWrites('I need help', { name: 'Grace' });
      await asked.opened;
      const ana = await signedInBrowser(stage().service.url);
      await ana.post(`/conversations/${customer.conversationId}/take-over`);
      answer.open();
      const [execution] = await untilExecutions(workflow(), customer, 1);
      expect(execution!.status).toBe('success');
      if (way === 'operations') expect(wasRefused(execution!)).toBe(true);
      await untilTurn(customer, 'superseded');
      expect(await texts(customer)).toEqual(['I need help']);
    });

    it('drops its answer when the customer wrote more, and answers both messages together', async () => {
      const asked = gate();
      const answer = gate();
      thinking.server.answerBy(async ({ chatInput }) => {
        if (chatInput.includes('A-1042')) return { reply: 'About both' };
        asked.open();
        await answer.opened;
        return { reply: 'About the first' };
      });
      const customer = await stage().customerWrites('Where is my order?');
      await asked.opened;
      await customer.write('It is A-1042');
      await customer.answers(1);
      answer.open();
      const [first] = await untilExecutions(workflow(), customer, 2);
      if (way === 'operations') expect(wasRefused(first!)).toBe(true);
      await untilTurn(customer, 'answered', 2);
      expect(await texts(customer)).toEqual(['Where is my order?', 'It is A-1042', 'About both']);
    });
  });
}
