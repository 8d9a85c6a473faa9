import { describe, expect, it } from '@jest/globals';
import type { Customer, Stage } from '../../stage.ts';
import { WAYS, withThinking } from './thinking.ts';
import { gate } from './thinkingServer.ts';

/** After kill -9 of the service or n8n during a turn, the customer gets one answer or a person. */
export function provesCrashes(stage: () => Stage): void {
  describe('kill -9 while a workflow thinks', () => {
    const thinking = withThinking(stage);
    /** Holds back the workflow's answer. `asked` resolves once it thinks, `answer` lets it go on. */
    const holdAnswer = () => {
      const asked = gate();
      const answer = gate();
      thinking.server.answerBy(async ({ chatInput }) => {
        asked.open();
        await answer.opened;
        return { reply: `You wrote: ${chatInput}` };
      });
      return { asked: asked.opened, answer: answer.open };
    };
    const untilWithTeam = async (customer: Customer) => {
      await stage().until(
        'the conversation to wait for a person',
        async () => (await thinking.statusOf(customer)) === 'awaiting_human',
      );
      expect((await thinking.turnsOf(customer)).map(({ status }) => status)).toEqual(['failed']);
      expect((await customer.read()).map(({ from }) => from)).toEqual(['customer', 'agent']);
    };

    it('of the service: an answer by an operation arrives afterwards, once', async () => {
      const { asked, answer } = holdAnswer();
      const workflow = await thinking.publishAgent('operations');
      const customer = await stage().customerWrites('Hello');
      await asked;
      await stage().service.crashAndRestart();
      answer();
      expect(await customer.answers(1)).toEqual(['You wrote: Hello']);
      await thinking.untilTurn(customer, 'answered');
      const [execution] = await thinking.untilExecutions(workflow, customer, 1);
      expect(execution!.output.Sent).toBeDefined();
    });

    it('of the service: an answer by the last node is lost, and the team gets the conversation in time', async () => {
      const { asked, answer } = holdAnswer();
      await thinking.publishAgent('its last node', { timeout: 5 });
      const customer = await stage().customerWrites('Hello');
      await asked;
      await stage().service.crashAndRestart();
      answer();
      await untilWithTeam(customer);
    });

    it.each(WAYS)(
      'of n8n, before the workflow answers by %s: the team gets the conversation in time',
      async (way) => {
        const { asked, answer } = holdAnswer();
        await thinking.publishAgent(way, { timeout: 5 });
        const customer = await stage().customerWrites('Hello');
        await asked;
        await stage().n8n.kill();
        answer();
        await untilWithTeam(customer);
        await stage().n8n.start();
      },
    );
  });
}
