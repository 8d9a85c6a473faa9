import { describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../helpers/browserless.ts';
import { answerWhatIsSent, payloadOf, recordEvents, type Stage } from '../stage.ts';
import type { Workflow } from '../n8nServer.ts';
import { askTheCustomer, waitActors } from './waits/waitActors.ts';
import { withWorkflow } from './withWorkflow.ts';

/**
 * Every delivery to a workflow so far. A message and its deliveries are stored in one write, so
 * none comes later.
 */
async function deliveriesTo(stage: Stage, workflow: Workflow): Promise<readonly unknown[]> {
  const [subscription] = await stage.subscriptionsOf(workflow);
  return (await stage.service.api.get(`/api/hooks/${subscription!.id}/deliveries`)).body.data;
}

/** What a workflow sends does not start it again, and a filter lets through only what it names. */
export function provesSentBy(stage: () => Stage): void {
  describe('a workflow that sends a message on Message Sent', () => {
    const workflow = withWorkflow(stage, answerWhatIsSent);

    it('starts on what a person sends, and not on what it sent itself', async () => {
      const { conversationId, read } = await stage().customerWrites('Where is my parcel?');
      const browser = await signedInBrowser(stage().service.url);
      await browser.post(`/conversations/${conversationId}/reply`, { text: 'On its way.' });
      await stage().execution(workflow(), 'message.sent', conversationId);
      expect((await read()).map(({ text }: { text: string }) => text)).toEqual([
        'Where is my parcel?',
        'On its way.',
        'And one more after: On its way.',
      ]);
      expect(await deliveriesTo(stage(), workflow())).toHaveLength(1);
    });
  });

  describe('a workflow that asks the customer on Message Received', () => {
    const workflow = withWorkflow(stage, askTheCustomer, { events: ['message.received'] });
    const { openWait, output, untilResting } = waitActors(stage);

    it('goes on with the answer, and does not start on it', async () => {
      const { conversationId, write } = await stage().customerWrites('A refund, please');
      await openWait(conversationId, 'reply');
      await untilResting(workflow());
      await write('A-1042');
      expect(await output(workflow(), conversationId)).toMatchObject({ text: 'A-1042' });
      expect(await deliveriesTo(stage(), workflow())).toHaveLength(1);
    });
  });

  describe('a workflow with filters', () => {
    const workflow = withWorkflow(stage, recordEvents, {
      events: ['message.received'],
      filters: { channels: ['web_chat'], statuses: ['human_active'] },
    });

    it('starts on what matches them, and nothing else is sent to it', async () => {
      const { conversationId, write } = await stage().customerWrites('Is anybody there?');
      await stage().service.api.post(`/api/conversations/${conversationId}/takeover`);
      await write('A person, please.');
      const execution = await stage().execution(workflow(), 'message.received', conversationId);
      expect(payloadOf(execution)).toMatchObject({ message: { text: 'A person, please.' } });
      expect(await deliveriesTo(stage(), workflow())).toHaveLength(1);
    });
  });
}
