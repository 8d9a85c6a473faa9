import { describe, expect, it } from '@jest/globals';
import { TRIGGER, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';
import { askTheCustomer, askTheTeam, waitActors } from './waitActors.ts';

/** A workflow rests and goes on with what a customer or the team answers. */
export function provesAsking(stage: () => Stage): void {
  const { openWait, wait, decide, untilResting, output, untilAttempts } = waitActors(stage);

  describe('a workflow that asks the customer', () => {
    const workflow = withWorkflow(stage, askTheCustomer);

    it('goes on with all messages that they write in a row', async () => {
      const customer = await stage().customerWrites('Hello', { name: 'Grace' });
      const { conversationId } = customer;
      await openWait(conversationId, 'reply');
      await untilResting(workflow());
      expect((await customer.read()).at(-1)).toMatchObject({ text: 'What is your order number?' });
      await customer.write('It is');
      await customer.write('A-1042');
      expect(await output(workflow(), conversationId)).toMatchObject({
        answered: true,
        timed_out: false,
        text: 'It is\nA-1042',
        messages: [{ text: 'It is' }, { text: 'A-1042' }],
        conversation_id: conversationId,
      });
    });

    it('goes on without a text when a person takes over', async () => {
      const { conversationId } = await stage().customerWrites('Hello', { name: 'Linus' });
      await openWait(conversationId, 'reply');
      await stage().service.api.post(`/api/conversations/${conversationId}/takeover`, {});
      expect(await output(workflow(), conversationId)).toMatchObject({
        answered: false,
        status: 'taken_over',
        text: null,
      });
    });
  });

  describe('a workflow that asks the customer with a time limit', () => {
    const workflow = withWorkflow(stage, askTheCustomer, (node) => {
      const limit = { timeLimit: 0.05, timeLimitUnit: 'minutes' };
      Object.assign(node('Ask the customer').parameters, limit);
    });

    it('goes on when the time is up, and the output says so', async () => {
      const { conversationId } = await stage().customerWrites('Hello', { name: 'Alan' });
      expect(await output(workflow(), conversationId)).toMatchObject({
        answered: false,
        timed_out: true,
        status: 'expired',
        text: null,
        value: null,
      });
    });
  });

  describe('a workflow that asks the team', () => {
    const workflow = withWorkflow(stage, askTheTeam);

    it('goes on with the decision, its note and who made it', async () => {
      const { conversationId } = await stage().customerWrites('A refund, please');
      const { id, details } = await openWait(conversationId);
      expect(details).toEqual({ Order: 'A-1042' });
      await untilResting(workflow());
      await decide(id, false, 'Not before Monday');
      expect(await output(workflow(), conversationId)).toMatchObject({
        data: {
          approved: false,
          status: 'rejected',
          note: 'Not before Monday',
          decided_by: expect.any(String),
        },
      });
    });

    it('goes on once, with the first of two decisions at the same time', async () => {
      const { conversationId } = await stage().customerWrites('Another refund');
      const { id } = await openWait(conversationId);
      const answers = await Promise.all([decide(id, true), decide(id, false)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const approved = answers[0]!.status === 200;
      expect(await output(workflow(), conversationId)).toMatchObject({ data: { approved } });
      expect(await stage().executionsOf(workflow(), conversationId)).toHaveLength(1);
    });

    it('goes on in the editor too, where it is executed by hand', async () => {
      const { n8n, credential, until } = stage();
      const manualTrigger = {
        type: 'n8n-nodes-base.manualTrigger',
        parameters: {},
        credentials: undefined,
        webhookId: undefined,
      };
      const byHand = await n8n.importWorkflow(askTheTeam, credential, (node) => {
        Object.assign(node(TRIGGER), manualTrigger);
      });
      const { id } = byHand;
      await n8n.listen(id, TRIGGER);
      await untilResting(byHand);
      const path = '/api/waits?status=open&kind=decision';
      const { body } = await stage().service.api.get(path);
      await decide((body.data as { id: string }[])[0]!.id, true);
      const execution = await until('the execution', async () =>
        (await n8n.executions(id)).find(({ status }) => status === 'success'),
      );
      expect(execution).toMatchObject({ mode: 'manual' });
      expect(execution.output['Go on']).toMatchObject([{ data: { approved: true } }]);
    });

    it('shows after the next attempt that the execution was stopped in n8n', async () => {
      const { conversationId } = await stage().customerWrites('Stop this one');
      const { id } = await openWait(conversationId);
      const execution = await untilResting(workflow());
      await stage().n8n.api('POST', `/executions/${execution}/stop`);
      await decide(id, true);
      await untilAttempts(id, 1);
      expect((await wait(id)).resume).toMatchObject({
        state: 'gave_up',
        problem: expect.stringMatching(/^The execution is gone\..*has finished with error/),
      });
    });
  });
}
