import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../helpers/browserless.ts';
import { startModelServer, text, toolCalls, type ModelServer } from '../../helpers/modelServer.ts';
import type { Execution, Workflow, WorkflowNode } from '../n8nServer.ts';
import { example, examplesFolder, payloadOf, type Stage } from '../stage.ts';

/** The files of examples/workflows do what they say, imported as they are. */
export function provesExamples(stage: () => Stage): void {
  describe('the example workflows', () => {
    let running: Workflow | undefined;
    const run = async (name: string) => (running = await stage().run(example(`${name}.json`)));
    const api = () => stage().service.api;

    /** Changes nodes as the notes of the example tell a user, before it is published. */
    const runChanged = async (name: string, change: (node: NodeByName) => void) => {
      const { n8n, credential } = stage();
      const workflow = await n8n.importWorkflow(example(`${name}.json`), credential);
      change((wanted) => workflow.nodes.find((node) => node.name === wanted)!);
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
      const proven = [
        'after-hours-answer',
        'ai-agent',
        'daily-summary',
        'lead-to-crm',
        'payment-reminder',
        'urgent-to-the-team',
      ];
      expect(readdirSync(examplesFolder).sort()).toEqual(
        [...proven, ...provenElsewhere].sort().map((name) => `${name}.json`),
      );
    });

    it('after-hours-answer answers when nobody works, once, and leaves control as it is', async () => {
      const always = { days: [1, 2, 3, 4, 5, 6, 7], opens: '00:00', closes: '24:00' };
      const open = await runChanged('after-hours-answer', (node) => {
        for (const [field, value] of Object.entries(always))
          setField(node('Opening hours'), field, value);
      });
      const early = await stage().customerWrites('Is somebody there?');
      const inTime = await stage().execution(open, 'message.received', early.conversationId);
      expect(inTime.status).toBe('success');
      expect(inTime.output['Say when we are back']).toBeUndefined();
      await stage().retire(open);

      const closed = await runChanged('after-hours-answer', (node) =>
        setField(node('Opening hours'), 'days', []),
      );
      const late = await stage().customerWrites('Is somebody there?');
      const { conversationId } = late;
      await stage().execution(closed, 'message.received', conversationId);
      await late.write('Hello?');
      await stage().until('the second execution', async () => {
        return (await stage().executionsOf(closed, conversationId)).length === 2;
      });
      expect(await late.read()).toMatchObject([
        { from: 'customer' },
        { from: 'team', text: expect.stringContaining('We are back on working days') },
        { from: 'customer' },
      ]);
      expect((await api().get(`/api/conversations/${conversationId}`)).body.status).toBe(
        'ai_active',
      );
    });

    it('lead-to-crm makes a lead with an address that can be used', async () => {
      const ana = await signedInBrowser(stage().service.url);
      const { html } = await ana.post('/keys', { name: 'CRM', reveal: 'on' });
      const credential = await stage().n8n.createCredential(
        'conversationServiceApi',
        { baseUrl: stage().service.url, apiKey: /cs_live_\w{32}/.exec(html)![0] },
        'For the CRM',
      );
      const workflow = await runChanged('lead-to-crm', (node) => {
        node('Get the contact').credentials = { conversationServiceApi: credential };
      });
      const { conversationId } = await stage().customerWrites('I take two', {
        name: 'Grace',
        email: 'grace@example.com',
        phone: '+49 170 1234567',
      });
      await api().patch(`/api/conversations/${conversationId}`, { funnel_stage: 'qualified' });
      const execution = await stage().execution(workflow, 'conversation.qualified', conversationId);
      expect(execution.output['Create it in the CRM']).toEqual([
        {
          name: 'Grace',
          email: 'grace@example.com',
          phone: '+491701234567',
          channel: 'web_chat',
          stage: 'qualified',
          external_id: conversationId,
        },
      ]);
    });

    it('daily-summary counts the conversations of the day', async () => {
      const waiting = await stage().customerWrites('Hello', { name: 'Grace' });
      const closed = await stage().customerWrites('Thank you, that was all');
      await api().post(`/api/conversations/${closed.conversationId}/close`, {
        summary: 'Content.',
        verdict: 'goal_reached',
      });
      const { n8n, credential } = stage();
      const workflow = await n8n.importWorkflow(example('daily-summary.json'), credential);
      await n8n.activate(workflow.id);
      const { output } = await runByHand(workflow, 'Every evening');
      await n8n.deactivate(workflow.id);
      const [summary] = output['Send it to the team'] as { text: string; conversations: number }[];
      expect(summary!.conversations).toBe(output["Get the day's conversations"]!.length);
      const ids = output["Get the day's conversations"]!.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining([waiting.conversationId, closed.conversationId]));
      expect(summary!.text).toMatch(
        /^\d+ conversations in the last 24 hours\nChannels: .*web_chat: \d+.*\nOutcomes: .*goal_reached: \d+/,
      );
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

      it('announces that the agent asks for a person', async () => {
        const workflow = await run('urgent-to-the-team');
        await api().patch('/api/agent', { enabled: true });
        const { conversationId } = await stage().customerWrites('I want to talk to a person', {
          name: 'Grace',
        });
        const execution = await stage().execution(
          workflow,
          'conversation.awaiting_human',
          conversationId,
        );
        await api().patch('/api/agent', { enabled: false });
        expect(noticeIn(execution)).toMatchObject([
          { text: 'The agent asks for a person: Grace on web_chat, "I want to talk to a person"' },
        ]);
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

    describe('ai-agent', () => {
      let model: ModelServer;
      beforeAll(async () => {
        model = await startModelServer({ isOpenAi: true });
      });
      afterAll(() => model?.close());

      it('answers, remembers the conversation, and asks for a person', async () => {
        model.answerBy(({ body: { messages } }) => {
          const last = messages.at(-1)!;
          if (last.role === 'tool') return text('A colleague will answer here.');
          if (last.content!.includes('person')) return toolCalls({ name: 'Get_a_person' });
          const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
          return text(`You wrote: ${said.join(' / ')}`);
        });
        const openAi = await stage().n8n.createCredential(
          'openAiApi',
          { apiKey: model.apiKey, url: model.url },
          'A model on this machine',
        );
        await runChanged('ai-agent', (node) => {
          const chatModel = node('OpenAI Chat Model');
          chatModel.credentials = { openAiApi: { id: openAi.id, name: openAi.name } };
          (chatModel.parameters.model as { value: string }).value = model.model;
        });
        const customer = await stage().customerWrites('Do you repair tents?', { name: 'Grace' });
        const { conversationId } = customer;
        const answers = (count: number) =>
          stage().until(`${count} answers`, async () => {
            const read = (await customer.read()).filter(({ from }) => from !== 'customer');
            return read.length >= count && read.map((each) => each.text);
          });
        expect(await answers(1)).toEqual(['You wrote: Do you repair tents?']);
        await customer.write('And boots?');
        expect((await answers(2))[1]).toBe('You wrote: Do you repair tents? / And boots?');
        await customer.write('I would like a person, please');
        expect((await answers(3))[2]).toBe('A colleague will answer here.');
        expect((await api().get(`/api/conversations/${conversationId}`)).body.status).toBe(
          'human_active',
        );
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

      const workflow = await runChanged('payment-reminder', (node) =>
        setField(node('Remind after'), 'days', 0),
      );
      for (let times = 0; times < 2; times++) await runByHand(workflow, 'Every morning');
      expect((await customer.read()).map(({ text }) => text)).toEqual([
        'I will pay later',
        `May I remind you? Demo, one hour, US$49.00: ${link.url}`,
      ]);
      await api().delete('/api/payment-accounts/manual');
    });
  });
}

type NodeByName = (name: string) => WorkflowNode;

interface SetParameters {
  assignments: { assignments: { name: string; value: unknown }[] };
}

/** Changes one field of a node "Edit Fields". */
function setField({ parameters }: WorkflowNode, field: string, value: unknown): void {
  const { assignments } = (parameters as unknown as SetParameters).assignments;
  assignments.find(({ name }) => name === field)!.value = value;
}
