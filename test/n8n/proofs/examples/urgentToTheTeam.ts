import { describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import type { Execution } from '../../n8nServer.ts';
import { example, payloadOf, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';
import type { ExampleRunner } from './exampleRunner.ts';

/** Urgent conversations reach the team, whatever else fails. */
export function provesUrgentToTheTeam(
  stage: () => Stage,
  { run, asksForPerson }: ExampleRunner,
): void {
  const api = () => stage().service.api;

  const noticeIn = ({ output }: Execution) => output['Send it to the team'];

  describe('urgent-to-the-team', () => {
    const workflow = withWorkflow(stage, example('urgent-to-the-team.json'));

    it('takes over from the agent and reassures when a message is urgent, and leaves others alone', async () => {
      const calm = await stage().customerWrites('No hurry at all');
      const urgent = await stage().customerWrites('URGENT: my parcel is leaking', {
        name: 'Grace',
      });
      const { conversationId } = urgent;
      const execution = await stage().execution(workflow(), 'message.received', conversationId);
      const calmExecution = await stage().execution(
        workflow(),
        'message.received',
        calm.conversationId,
      );

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
      expect(noticeIn(calmExecution)).toBeUndefined();
    });

    it('announces that the agent asks for a person', async () => {
      const { conversationId } = await asksForPerson('Grace');
      const execution = await stage().execution(
        workflow(),
        'conversation.awaiting_human',
        conversationId,
      );
      expect(noticeIn(execution)).toMatchObject([
        { text: 'The agent asks for a person: Grace on web_chat, "I want to talk to a person"' },
      ]);
    });

    it('does not announce its own take-over', async () => {
      const { conversationId } = await stage().customerWrites('This is urgent!');
      const own = await stage().execution(workflow(), 'conversation.handed_over', conversationId);
      expect(payloadOf(own)).toMatchObject({ handover: { triggered_by: { type: 'api' } } });
      expect(noticeIn(own)).toBeUndefined();
    });

    it('announces the colleague who takes over', async () => {
      const { conversationId } = await stage().customerWrites('Do you repair tents?', {
        name: 'Grace',
      });
      const ana = await signedInBrowser(stage().service.url);
      await ana.post(`/conversations/${conversationId}/take-over`);
      const execution = await stage().execution(
        workflow(),
        'conversation.handed_over',
        conversationId,
      );
      expect(noticeIn(execution)).toMatchObject([
        { text: 'ana took over: Grace on web_chat, "Do you repair tents?"' },
      ]);
    });

    it('reassures and leaves a note once, although the same event starts it twice', async () => {
      const customer = await stage().customerWrites(`An emergency: ${'no heating! '.repeat(340)}`);
      const { conversationId } = customer;
      const first = await stage().execution(workflow(), 'message.received', conversationId);
      const [subscription] = await stage().subscriptionsOf(workflow());
      await stage().until('the delivery to be recorded and sent again', async () => {
        const path = `/api/hooks/${subscription!.id}/deliveries/${payloadOf(first)!.id}/redeliver`;
        return (await api().post(path)).status < 300;
      });
      const second = await stage().until('the second execution', async () => {
        const executions = await stage().executionsOf(workflow(), conversationId);
        return executions.find(
          (each) => each.id !== first.id && payloadOf(each)?.event === 'message.received',
        );
      });
      expect(second.status).toBe('success');
      for (const node of ['Reassure the customer', 'Leave a note'])
        expect(second.output[node]).toEqual(first.output[node]);
      expect(noticeIn(second)).toHaveLength(1);
      expect(first.output['Leave a note']).toMatchObject([
        {
          text: expect.stringMatching(
            /^Taken over by n8n, .*: "An emergency: no heating!.{900,}"$/,
          ),
        },
      ]);
      expect(await customer.read()).toHaveLength(2);
    });
  });

  describe('urgent-to-the-team, when its message and its note are refused', () => {
    it('still tells the team', async () => {
      const workflow = await run('urgent-to-the-team', (node) => {
        // An empty text is refused.
        node('Reassure the customer').parameters.text = ' ';
        node('Leave a note').parameters.text = ' ';
      });
      const { conversationId } = await stage().customerWrites('Urgent, please');
      const execution = await stage().execution(workflow, 'message.received', conversationId);
      expect(execution.status).toBe('success');
      expect(noticeIn(execution)).toMatchObject([{ conversation_id: conversationId }]);
      const refused = (subject: string) => [{ error: `The text of the ${subject} is empty` }];
      expect(execution.output['Reassure the customer']).toMatchObject(refused('message'));
      expect(execution.output['Leave a note']).toMatchObject(refused('note'));
    });
  });
}
