import { describe, expect, it } from '@jest/globals';
import { isRunning, triggerOf, type Workflow } from '../../n8nServer.ts';
import { payloadOf, recordEvents, TRIGGER, type Stage, type Subscription } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';

/** Executing the trigger's step does not disturb production, and leaves nothing behind. */
export function provesTestListening(stage: () => Stage): void {
  const testSubscriptionsOf = async (workflow: Workflow) => {
    const { body } = await stage().service.api.get('/api/hooks?limit=200');
    const address = `${stage().n8n.url}/webhook-test/${triggerOf(workflow).webhookId}/webhook`;
    return (body.data as Subscription[]).filter(({ target_url }) => target_url === address);
  };
  const untilNoTestSubscription = (workflow: Workflow) =>
    stage().until(
      'the test subscription to be removed',
      async () => (await testSubscriptionsOf(workflow)).length === 0,
    );
  const untilTestSubscription = (workflow: Workflow) =>
    stage().until(
      'the test subscription',
      async () => (await testSubscriptionsOf(workflow)).length === 1,
    );
  const testExecutions = async (workflow: Workflow) =>
    (await stage().n8n.executions(workflow.id)).filter(({ mode }) => mode === 'manual');

  describe('listening for a test event', () => {
    describe('with the option to send a sample', () => {
      const workflow = withWorkflow(stage, recordEvents, { options: { sendSample: true } });

      it('takes a sample of the first event at once, and keeps the production subscription', async () => {
        const before = await stage().subscriptionsOf(workflow());
        expect(await stage().n8n.listen(workflow().id, TRIGGER)).toMatchObject({
          waitingForWebhook: true,
        });

        const [execution] = await stage().until('the test execution', async () => {
          const found = await testExecutions(workflow());
          return found.length > 0 && !found.some(isRunning) && found;
        });
        expect(execution).toMatchObject({ status: 'success' });
        expect(payloadOf(execution!)).toMatchObject({
          event: 'conversation.opened',
          workspace: 'demo',
        });
        await untilNoTestSubscription(workflow());
        expect(await stage().subscriptionsOf(workflow())).toMatchObject(
          before.map(({ id }) => ({ id })),
        );
      });
    });

    describe('without it', () => {
      const workflow = withWorkflow(stage, recordEvents);

      it('takes the next real event, which production takes too', async () => {
        await stage().n8n.listen(workflow().id, TRIGGER);
        await untilTestSubscription(workflow());
        const { conversationId } = await stage().customerWrites('Is this a test?');

        const [execution] = await stage().until('the test execution', async () => {
          const found = await testExecutions(workflow());
          // n8n lists an execution before it has its data.
          return found.some((each) => payloadOf(each) !== undefined) && found;
        });
        expect(payloadOf(execution!)).toMatchObject({ conversation: { id: conversationId } });
        await stage().execution(workflow(), 'conversation.opened', conversationId);
        await stage().execution(workflow(), 'message.received', conversationId);
        await untilNoTestSubscription(workflow());
      });

      it('removes its subscription when it is cancelled, and production goes on', async () => {
        const before = await stage().subscriptionsOf(workflow());
        await stage().n8n.listen(workflow().id, TRIGGER);
        await untilTestSubscription(workflow());
        await stage().n8n.stopListening(workflow().id);
        await untilNoTestSubscription(workflow());

        expect(await stage().subscriptionsOf(workflow())).toMatchObject(
          before.map(({ id }) => ({ id })),
        );
        const { conversationId } = await stage().customerWrites('Still there?');
        await stage().execution(workflow(), 'message.received', conversationId);
      });
    });
  });
}
