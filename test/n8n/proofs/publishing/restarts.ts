import { describe, expect, it } from '@jest/globals';
import { payloadOf, recordEvents, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';

/** Neither side forgets the other when it is started again. */
export function provesRestarts(stage: () => Stage): void {
  describe('after a restart', () => {
    const workflow = withWorkflow(stage, recordEvents);
    const ids = async () => (await stage().subscriptionsOf(workflow())).map(({ id }) => id);

    const stillReceives = async (text: string) => {
      const { conversationId } = await stage().customerWrites(text);
      await stage().execution(workflow(), 'conversation.opened', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
    };

    it('of the service, the same subscription keeps receiving', async () => {
      const before = await ids();
      await stage().service.restart();
      expect(await ids()).toEqual(before);
      await stage().receiving(workflow());
      await stillReceives('After the restart of the service');
    });

    it('of the service after kill -9, a message it had acknowledged still arrives, each event under one id', async () => {
      const { conversationId } = await stage().customerWrites('Right before the crash');
      await stage().service.crashAndRestart();
      await stage().execution(workflow(), 'conversation.opened', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
      // An answer that the crash cut off counts as none: that event comes again, and only with the
      // same id.
      const payloads = (await stage().executionsOf(workflow(), conversationId)).map(
        (each) => payloadOf(each)!,
      );
      const events = [...new Map(payloads.map(({ id, event }) => [id, event])).values()];
      expect(events.sort()).toEqual(['conversation.opened', 'message.received']);
      await stillReceives('After the crash of the service');
    });

    it('of n8n, the same subscription keeps receiving, and what failed during it is caught up', async () => {
      const before = await ids();
      await stage().n8n.stop();
      const { conversationId } = await stage().customerWrites('While n8n is down');
      const deliveries = `/api/hooks/${before[0]}/deliveries`;
      await stage().until('both deliveries to have failed for good', async () => {
        const { body } = await stage().service.api.get(`${deliveries}?status=failed`);
        return (body.data as unknown[]).length === 2;
      });

      await stage().n8n.start();
      await stage().receiving(workflow());
      expect(await ids()).toEqual(before);
      await stillReceives('After the restart of n8n');
      await stage().execution(workflow(), 'conversation.opened', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
      expect(await stage().executionsOf(workflow(), conversationId)).toHaveLength(2);
    });

    it('of n8n after kill -9, the same subscription keeps receiving', async () => {
      const before = await ids();
      await stage().n8n.kill();
      await stage().n8n.start();
      await stage().receiving(workflow());
      expect(await ids()).toEqual(before);
      await stillReceives('After the crash of n8n');
    });
  });
}
