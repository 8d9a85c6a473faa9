import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../helpers/browserless.ts';
import type { Execution, Workflow } from '../n8nServer.ts';
import { example, examplesFolder, payloadOf, type Stage } from '../stage.ts';

/** A node, one of its fields, and its new value. */
type ChangedField = readonly [node: string, field: string, value: unknown];

/** The files of examples/workflows do what they say, imported as they are. */
export function provesExamples(stage: () => Stage): void {
  describe('the example workflows', () => {
    let running: Workflow | undefined;
    const run = async (name: string) => (running = await stage().run(example(`${name}.json`)));
    const api = () => stage().service.api;

    /** Changes fields as the notes of the example tell a user, before it is published. */
    const runChanged = async (name: string, ...changes: ChangedField[]) => {
      const { n8n, credential } = stage();
      const workflow = await n8n.importWorkflow(example(`${name}.json`), credential);
      for (const change of changes) setField(workflow, change);
      const { name: title, nodes, connections, settings } = workflow;
      await n8n.api('PUT', `/workflows/${workflow.id}`, {
        name: title,
        nodes,
        connections,
        settings,
      });
      await n8n.activate(workflow.id);
      await stage().receiving(workflow);
      return (running = workflow);
    };

    /** Executes the workflow from one of its triggers, as the button on the canvas does. */
    const runByHand = async ({ id }: Workflow, triggerName: string) => {
      const manual = async () =>
        (await stage().n8n.executions(id)).filter(
          ({ mode, status }) => mode === 'manual' && !['new', 'running'].includes(status),
        );
      const before = (await manual()).length;
      await stage().n8n.listen(id, triggerName);
      const execution = await stage().until('the execution', async () => (await manual())[before]);
      expect(execution).toMatchObject({ status: 'success' });
      return execution;
    };

    afterEach(async () => {
      if (running) await stage().retire(running);
      running = undefined;
    });

    it('are all proven here', () => {
      // tools.ts
      const provenElsewhere = ['find-order-tool'];
      const proven = ['lead-to-crm', 'payment-reminder', 'urgent-to-the-team'];
      expect(readdirSync(examplesFolder).sort()).toEqual(
        [...proven, ...provenElsewhere].sort().map((name) => `${name}.json`),
      );
    });

    it('lead-to-crm makes a lead of the conversation', async () => {
      const workflow = await run('lead-to-crm');
      const { conversationId } = await stage().customerWrites('I take two', {
        name: 'Grace',
        email: 'grace@example.com',
      });
      await api().patch(`/api/conversations/${conversationId}`, { funnel_stage: 'qualified' });
      const execution = await stage().execution(workflow, 'conversation.qualified', conversationId);
      expect(execution.output['Create it in the CRM']).toEqual([
        {
          name: 'Grace',
          contact: expect.stringContaining('•'),
          channel: 'web_chat',
          stage: 'qualified',
          external_id: conversationId,
        },
      ]);
    });

    describe('urgent-to-the-team', () => {
      const noticeIn = ({ output }: Execution) => output['Send it to the team'];

      it('takes over and reassures who writes urgently, and leaves others alone', async () => {
        const workflow = await run('urgent-to-the-team');
        const calm = await stage().customerWrites('No hurry at all');
        const urgent = await stage().customerWrites('URGENT: my parcel is leaking', {
          name: 'Grace',
        });
        const { conversationId } = urgent;
        const execution = await stage().execution(workflow, 'message.received', conversationId);
        const quiet = await stage().execution(workflow, 'message.received', calm.conversationId);

        expect(await urgent.read()).toMatchObject([
          { from: 'customer' },
          { from: 'team', text: expect.stringContaining('taking over') },
        ]);
        expect((await api().get(`/api/conversations/${conversationId}`)).body).toMatchObject({
          status: 'human_active',
        });
        expect(noticeIn(execution)).toEqual([
          {
            text: 'Urgent: Grace on web_chat, "URGENT: my parcel is leaking"',
            conversation_id: conversationId,
          },
        ]);
        expect(await calm.read()).toHaveLength(1);
        expect(noticeIn(quiet)).toBeUndefined();
      });

      it('does not announce its own taking over', async () => {
        const workflow = await run('urgent-to-the-team');
        const { conversationId } = await stage().customerWrites('This is urgent!');
        const own = await stage().execution(workflow, 'conversation.handed_over', conversationId);
        expect(payloadOf(own)).toMatchObject({ handover: { triggered_by: { type: 'api' } } });
        expect(noticeIn(own)).toBeUndefined();
      });

      it('announces the colleague who takes over', async () => {
        const workflow = await run('urgent-to-the-team');
        const { conversationId } = await stage().customerWrites('Do you repair tents?', {
          name: 'Grace',
        });
        const ana = await signedInBrowser(stage().service.url);
        await ana.post(`/conversations/${conversationId}/take-over`);
        const execution = await stage().execution(
          workflow,
          'conversation.handed_over',
          conversationId,
        );
        expect(noticeIn(execution)).toMatchObject([
          { text: 'ana took over: Grace on web_chat, "Do you repair tents?"' },
        ]);
      });

      it('reassures once although the same event starts it twice', async () => {
        const workflow = await run('urgent-to-the-team');
        const customer = await stage().customerWrites('An emergency, once');
        const { conversationId } = customer;
        const first = await stage().execution(workflow, 'message.received', conversationId);
        const hook = (await stage().subscriptionsOf(workflow)).find(({ events }) =>
          events.includes('message.received'),
        )!;
        await stage().until('the delivery to be recorded and sent again', async () => {
          const path = `/api/hooks/${hook.id}/deliveries/${payloadOf(first)!.id}/redeliver`;
          return (await api().post(path)).status < 300;
        });
        const second = await stage().until('the second execution', async () => {
          const executions = await stage().executionsOf(workflow, conversationId);
          return executions.find(
            (each) => each.id !== first.id && payloadOf(each)?.event === 'message.received',
          );
        });
        expect(second.status).toBe('success');
        expect(second.output['Reassure the customer']).toEqual(
          first.output['Reassure the customer'],
        );
        expect(await customer.read()).toHaveLength(2);
      });
    });

    // sevenEvents.ts proves its other half: the link, and the thanks.
    it('payment-reminder reminds of a link that has been open for as long as it says, once', async () => {
      await api().put('/api/payment-accounts/manual', {
        settings: { instructions: 'Transfer to DE00 1234.' },
      });
      const customer = await stage().customerWrites('I will pay later');
      const { body: link } = await api().post(
        `/api/conversations/${customer.conversationId}/payment-links`,
        { amount: 4900, currency: 'usd', description: 'Demo, one hour' },
      );

      const asItIs = await run('payment-reminder');
      const tooEarly = await runByHand(asItIs, 'Every morning');
      expect(tooEarly.output['Get open links']).toMatchObject([{ id: link.id }]);
      expect(tooEarly.output['Remind the customer']).toBeUndefined();
      await stage().retire(asItIs);

      const workflow = await runChanged('payment-reminder', ['Remind after', 'days', 0]);
      for (let times = 0; times < 2; times++) await runByHand(workflow, 'Every morning');
      expect((await customer.read()).map(({ text }) => text)).toEqual([
        'I will pay later',
        `May I remind you? Demo, one hour, US$49.00: ${link.url}`,
      ]);
      await api().delete('/api/payment-accounts/manual');
    });
  });
}

interface SetParameters {
  assignments: { assignments: { name: string; value: unknown }[] };
}

/** Changes one field of a node "Edit Fields". */
function setField({ nodes }: Workflow, [nodeName, field, value]: ChangedField): void {
  const { parameters } = nodes.find(({ name }) => name === nodeName)!;
  const { assignments } = (parameters as unknown as SetParameters).assignments;
  assignments.find(({ name }) => name === field)!.value = value;
}
