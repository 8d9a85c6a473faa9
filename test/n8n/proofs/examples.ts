import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Workflow } from '../n8nServer.ts';
import { example, examplesFolder, payloadOf, type Stage } from '../stage.ts';

/** The files of examples/workflows do what they say, imported as they are. */
export function provesExamples(stage: () => Stage): void {
  describe('the example workflows', () => {
    let running: Workflow | undefined;
    const run = async (name: string) => (running = await stage().run(example(name)));

    afterEach(async () => {
      if (running) await stage().retire(running);
      running = undefined;
    });

    it('are all proven here', () => {
      // tools.ts, sevenEvents.ts
      const provenElsewhere = ['find-order-tool', 'payment-link-for-qualified-lead'];
      const proven = [
        'answer-and-close',
        'notify-team-on-handover',
        'qualified-lead-to-crm',
        'take-over-urgent-messages',
      ];
      expect(readdirSync(examplesFolder).sort()).toEqual(
        [...proven, ...provenElsewhere].sort().map((name) => `${name}.json`),
      );
    });

    it('answer-and-close answers once although the same event starts it twice', async () => {
      const workflow = await run('answer-and-close.json');
      const { api } = stage().service;
      const customer = await stage().customerWrites('Once, please');
      await stage().execution(workflow, 'conversation.closed', customer.conversationId);
      const first = await stage().execution(workflow, 'message.received', customer.conversationId);

      const hook = (await stage().subscriptionsOf(workflow)).find(({ events }) =>
        events.includes('message.received'),
      )!;
      await stage().until('the delivery to be recorded and sent again', async () => {
        const { status } = await api.post(
          `/api/hooks/${hook.id}/deliveries/${payloadOf(first)!.id}/redeliver`,
        );
        return status < 300;
      });

      const second = await stage().until('the second execution', async () => {
        const executions = await stage().executionsOf(workflow, customer.conversationId);
        return executions.find(
          (each) => each.id !== first.id && payloadOf(each)?.event === 'message.received',
        );
      });
      expect(second.status).toBe('success');
      expect(second.output['Answer the customer']).toEqual(first.output['Answer the customer']);
      expect(await customer.read()).toHaveLength(2);
    });

    it('notify-team-on-handover makes a notice of who waits and why', async () => {
      const workflow = await run('notify-team-on-handover.json');
      const { conversationId } = await stage().customerWrites('I would rather talk to a person', {
        name: 'Grace',
      });
      await stage().service.api.post(`/api/conversations/${conversationId}/takeover`);
      const execution = await stage().execution(
        workflow,
        'conversation.handed_over',
        conversationId,
      );
      expect(execution.output['Send it to the team']).toEqual([
        {
          text: 'Grace was taken over by a person on web_chat: "I would rather talk to a person"',
          reason: 'api_takeover',
          conversation_id: conversationId,
        },
      ]);
    });

    it('qualified-lead-to-crm makes a lead of the conversation', async () => {
      const workflow = await run('qualified-lead-to-crm.json');
      const { conversationId } = await stage().customerWrites('I take two', {
        name: 'Grace',
        email: 'grace@example.com',
      });
      await stage().service.api.patch(`/api/conversations/${conversationId}`, {
        funnel_stage: 'qualified',
      });
      const execution = await stage().execution(workflow, 'conversation.qualified', conversationId);
      expect(execution.output['Create it in the CRM']).toEqual([
        {
          name: 'Grace',
          contact: expect.stringContaining('•'),
          stage: 'qualified',
          previous_stage: 'new',
          external_id: conversationId,
        },
      ]);
    });

    it('take-over-urgent-messages reassures who writes urgently, and leaves others alone', async () => {
      const workflow = await run('take-over-urgent-messages.json');
      const calm = await stage().customerWrites('No hurry at all');
      const urgent = await stage().customerWrites('URGENT: my parcel is leaking');
      await stage().execution(workflow, 'message.received', urgent.conversationId);
      await stage().execution(workflow, 'message.received', calm.conversationId);

      expect(await urgent.read()).toMatchObject([
        { from: 'customer' },
        { from: 'team', text: expect.stringContaining('taking over') },
      ]);
      const { body } = await stage().service.api.get(`/api/conversations/${urgent.conversationId}`);
      expect(body).toMatchObject({ status: 'human_active', funnel_stage: 'qualified' });
      expect(await calm.read()).toHaveLength(1);
    });
  });
}
