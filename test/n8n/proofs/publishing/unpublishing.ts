import { describe, expect, it } from '@jest/globals';
import { payloadOf, recordEvents, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';

const EVENT = 'message.received';

/** Unpublishing is the stop button: what comes after a minute is nobody's. */
export function provesUnpublishing(stage: () => Stage): void {
  describe('a workflow that is published again after more than a minute', () => {
    const workflow = withWorkflow(stage, recordEvents, { events: [EVENT] });

    it('gets nothing of the time in between', async () => {
      const before = await stage().subscriptionsOf(workflow());
      await stage().retire(workflow());
      const { conversationId, write } = await stage().customerWrites('While nobody listens');
      await stage().service.restartLater(61_000);

      await stage().n8n.activate(workflow().id);
      const after = await stage().receiving(workflow());
      expect(after.map(({ id }) => id)).not.toEqual(before.map(({ id }) => id));
      await write('Afterwards');
      const execution = await stage().execution(workflow(), EVENT, conversationId);
      expect(payloadOf(execution)).toMatchObject({ message: { text: 'Afterwards' } });
      const { body } = await stage().service.api.get(`/api/hooks/${after[0]!.id}/deliveries`);
      expect(body.data).toHaveLength(1);
      const { status } = await stage().service.api.get(`/api/hooks/${before[0]!.id}/deliveries`);
      expect(status).toBe(404);
    });
  });
}
