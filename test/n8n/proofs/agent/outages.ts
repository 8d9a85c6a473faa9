import { describe, expect, it } from '@jest/globals';
import type { Customer, Stage } from '../../stage.ts';
import { wasRefused, WAYS, withThinking } from './thinking.ts';
import { gate } from './thinkingServer.ts';

/** The team gets what a workflow that is the agent fails to answer, and the customer is told. */
export function provesOutages(stage: () => Stage): void {
  describe('a workflow that is the agent, in an outage', () => {
    const thinking = withThinking(stage);
    const echo = () => thinking.server.answerBy(({ chatInput }) => ({ reply: chatInput }));
    const untilWithTeam = async (customer: Customer) => {
      await stage().until(
        'the conversation to wait for a person',
        async () => (await thinking.statusOf(customer)) === 'awaiting_human',
      );
      const turns = await thinking.turnsOf(customer);
      expect(turns.at(-1)).toMatchObject({ status: 'failed', problem: expect.any(String) });
      expect(await customer.answers(1)).toHaveLength(1);
    };

    describe('answering by its last node', () => {
      const workflow = thinking.publishAgentForAllTests('its last node');

      it('answers once it is published again', async () => {
        echo();
        await thinking.unpublish(workflow());
        const customer = await stage().customerWrites('Is somebody there?');
        await thinking.untilTurn(customer, 'queued');
        await stage().n8n.activate(workflow().id);
        await thinking.untilAgent(workflow());
        expect(await customer.answers(1)).toEqual(['Is somebody there?']);
      });

      it.each(['stop', 'kill'] as const)('answers once n8n is back after a %s', async (end) => {
        echo();
        await stage().n8n[end]();
        const customer = await stage().customerWrites('Is somebody there?');
        await stage().n8n.start();
        expect(await customer.answers(1)).toEqual(['Is somebody there?']);
      });

      it.each([
        ['an object without any known field', { nonsense: true }],
        ['a reply that is not text', { reply: { text: 'Hello' } }],
      ])('gives the conversation to the team after %s', async (_, answer) => {
        thinking.server.answerBy(() => answer);
        await untilWithTeam(await stage().customerWrites('Hello'));
      });
    });

    it.each(WAYS)(
      'gives the conversation to the team when the answer by %s is late',
      async (way) => {
        const late = gate();
        thinking.server.answerBy(async () => {
          await late.opened;
          return { reply: 'Far too late' };
        });
        const workflow = await thinking.publishAgent(way, { timeout: 5 });
        const customer = await stage().customerWrites('Hello');
        await untilWithTeam(customer);
        late.open();
        const [execution] = await thinking.untilExecutions(workflow, customer, 1);
        if (way === 'operations') expect(wasRefused(execution!)).toBe(true);
        expect(await customer.read()).toHaveLength(2);
      },
    );
  });
}
