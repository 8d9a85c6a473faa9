import { describe, expect, it } from '@jest/globals';
import { webhookPath } from '../../n8nServer.ts';
import { recordEvents, type Stage } from '../../stage.ts';

export function provesDeactivation(stage: () => Stage): void {
  describe('deactivating a workflow', () => {
    it('removes its subscription, and nothing reaches it any more', async () => {
      const workflow = await stage().run(recordEvents);
      expect(await stage().subscriptionsOf(workflow)).toHaveLength(1);
      await stage().retire(workflow);
      await stage().until(
        'n8n to forget the webhook',
        async () => (await stage().n8n.call('POST', webhookPath(workflow))).status === 404,
      );

      const { conversationId } = await stage().customerWrites('Is anybody there?');
      const { body } = await stage().service.api.get(`/api/conversations/${conversationId}`);
      expect(body.message_count).toBe(1);
      expect(await stage().n8n.executions(workflow.id)).toEqual([]);
    });

    it('succeeds when its subscription is gone already', async () => {
      const workflow = await stage().run(recordEvents);
      for (const { id } of await stage().subscriptionsOf(workflow))
        await stage().service.api.delete(`/api/hooks/${id}`);
      await stage().retire(workflow);
      const { active } = await stage().n8n.api<{ active: boolean }>(
        'GET',
        `/workflows/${workflow.id}`,
      );
      expect(active).toBe(false);
    });
  });
}
