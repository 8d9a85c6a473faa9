import { describe, expect, it } from '@jest/globals';
import type { Customer, Stage } from '../../stage.ts';
import { wasRefused, WAYS, withThinking } from './thinking.ts';
import { gate } from './thinkingServer.ts';

/** What a workflow that is the agent fails to answer reaches the team, and the customer knows. */
export function provesOutages(stage: () => Stage): void {
  describe('a workflow that is the agent, in an outage', () => {
    const thinking = withThinking(stage);
    const answerInTurn = () => thinking.mind.answerBy(({ chatInput }) => ({ reply: chatInput }));
    const reachesTheTeam = async (customer: Customer) => {
      await stage().until(
        'the conversation to wait for a person',
        async () => (await thinking.statusOf(customer)) === 'awaiting_human',
      );
      const turns = await thinking.turnsOf(customer);
      expect(turns.at(-1)).toMatchObject({ status: 'failed', problem: expect.any(String) });
      expect(await customer.answers(1)).toHaveLength(1);
      return turns.at(-1)!.problem!;
    };

    describe('by its last node', () => {
      const workflow = thinking.thinkForAll('last node');

      it('answers once it is published again', async () => {
        answerInTurn();
        await thinking.unpublish(workflow());
        const customer = await stage().customerWrites('Is somebody there?');
        await thinking.untilTurn(customer, 'queued');
        await stage().n8n.activate(workflow().id);
        await thinking.untilAgent(workflow());
        expect(await customer.answers(1)).toEqual(['Is somebody there?']);
      });

      it.each(['stop', 'kill'] as const)('answers once n8n is reached again: %s', async (end) => {
        answerInTurn();
        await stage().n8n[end]();
        const customer = await stage().customerWrites('Is somebody there?');
        await stage().n8n.start();
        expect(await customer.answers(1)).toEqual(['Is somebody there?']);
      });

      it.each([
        ['an object with nothing in it that is known', { nonsense: true }],
        ['a reply that is no text', { reply: { text: 'Hello' } }],
      ])('gives the conversation to the team after %s', async (_, answer) => {
        thinking.mind.answerBy(() => answer);
        await reachesTheTeam(await stage().customerWrites('Hello'));
      });
    });

    it.each(WAYS)('gives it to the team when the answer by its %s is late', async (way) => {
      const late = gate();
      thinking.mind.answerBy(async () => {
        await late.opened;
        return { reply: 'Far too late' };
      });
      const workflow = await thinking.think(way, { timeout: 5 });
      const customer = await stage().customerWrites('Hello');
      await reachesTheTeam(customer);
      late.open();
      const [execution] = await thinking.untilExecutions(workflow, customer, 1);
      expect(wasRefused(way, execution!.output)).toBe(true);
      expect(await customer.read()).toHaveLength(2);
    });
  });
}
