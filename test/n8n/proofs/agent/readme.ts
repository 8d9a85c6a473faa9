import { describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import type { Execution } from '../../n8nServer.ts';
import { ownWorkflow, type Stage } from '../../stage.ts';
import { agentRunner } from './agentRunner.ts';

/** "Ask the customer, ask the team" of the README: what it does not mention is left as it is. */
export function provesReadme(stage: () => Stage): void {
  describe('the workflow of the README', () => {
    const { publish, publishForAll, answers, executions, statusOf, turnIs } = agentRunner(stage);

    describe('as it is', () => {
      publishForAll(ownWorkflow('readme-agent'));

      it.each([
        ['approve', 'It is refunded.', 'ai_active'],
        ['reject', expect.any(String), 'awaiting_human'],
      ])(
        'asks the customer, then the team, and goes on when somebody presses %s',
        async (verdict, said, status) => {
          const customer = await stage().customerWrites('I want my money back');
          expect(await answers(customer, 1)).toEqual(['What is your order number?']);
          await customer.write('1042');
          const ana = await signedInBrowser(stage().service.url);
          const action = await stage().until('the card in the conversation', async () => {
            const { html } = await ana.get(`/conversations/${customer.conversationId}`);
            const [, found] = /action="([^"]*wait_\w+\/decide)"/.exec(html) ?? [];
            return html.includes('Refund order 1042?') && found;
          });
          await ana.post(action, { verdict });
          expect((await answers(customer, 2))[1]).toEqual(said);
          await turnIs(customer, 'answered');
          expect(await statusOf(customer)).toBe(status);
        },
      );
    });

    it('gives the customer who does not answer in time to a person, and does not ask the team', async () => {
      const workflow = await publish(ownWorkflow('readme-agent'), (node) => {
        Object.assign(node('Ask the customer').parameters, {
          timeLimit: 0.05,
          timeLimitUnit: 'minutes',
        });
      });
      const customer = await stage().customerWrites('I want my money back');
      await turnIs(customer, 'answered');
      expect(await statusOf(customer)).toBe('awaiting_human');
      const [{ output }] = (await executions(workflow, customer, 1)) as [Execution];
      expect(output).toHaveProperty('No answer');
      expect(output).not.toHaveProperty('Ask the team');
    });
  });
}
