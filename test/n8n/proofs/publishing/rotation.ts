import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Workflow } from '../../n8nServer.ts';
import { recordEvents, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';

const EVENT = 'message.received';
const WARNING = 'The secret of this subscription was rotated';

/**
 * A workflow goes on through a rotation and warns that it must be published again. Then it has the
 * new secret.
 */
export function provesRotation(stage: () => Stage): void {
  describe('rotating the secret of a trigger', () => {
    const workflow = withWorkflow(stage, recordEvents, { events: [EVENT] });
    const warnings = async () =>
      (await readFile(stage().n8n.logFile, 'utf8')).split(WARNING).length - 1;

    /** Runs a workflow that rotates the subscription's secret when a person takes over. */
    const runRotator = async (subscriptionId: string) => {
      const { id, nodes, connections, settings } = await stage().n8n.importWorkflow(
        recordEvents,
        stage().credential,
        { events: ['conversation.handed_over'] },
      );
      const { id: credentialId, name, type } = stage().credential;
      const rotate = {
        id: 'b1d1c0de-0000-4000-8000-000000000003',
        name: 'Rotate Secret',
        type: 'n8n-nodes-conversation-service.conversationService',
        typeVersion: 1,
        position: [480, 0],
        parameters: {
          resource: 'subscription',
          operation: 'rotateSecret',
          subscriptionId: { __rl: true, mode: 'id', value: subscriptionId },
        },
        credentials: { [type]: { id: credentialId, name } },
      };
      const rotator = await stage().n8n.api<Workflow>('PUT', `/workflows/${id}`, {
        name: 'Rotate a secret',
        nodes: [...nodes, rotate],
        connections: {
          ...connections,
          'Do nothing': { main: [[{ node: rotate.name, type: 'main', index: 0 }]] },
        },
        settings,
      });
      await stage().n8n.activate(id);
      await stage().untilReceiving(rotator);
      return rotator;
    };

    it("loses nothing, warns in n8n's log, and ends when the workflow is published again", async () => {
      const [first] = await stage().subscriptionsOf(workflow());
      const oldSecret = await stage().secretOf(workflow());
      const rotator = await runRotator(first!.id);
      const { conversationId, write } = await stage().customerWrites('Before the rotation');
      await stage().execution(workflow(), EVENT, conversationId);
      expect(await warnings()).toBe(0);

      await stage().service.api.post(`/api/conversations/${conversationId}/takeover`);
      const rotation = await stage().execution(rotator, 'conversation.handed_over', conversationId);
      const [answer] = rotation.output['Rotate Secret']!;
      expect(answer).toMatchObject({
        id: first!.id,
        notice: expect.stringContaining('publish it again'),
        previous_secret_expires_at: expect.any(String),
      });
      expect(JSON.stringify(rotation)).not.toContain('whsec_');
      await stage().retire(rotator);

      await write('During the overlap');
      const countExecutions = async () =>
        (await stage().executionsOf(workflow(), conversationId)).length;
      await stage().until('the second execution', async () => (await countExecutions()) === 2);
      expect(await warnings()).toBe(1);
      expect(await stage().secretOf(workflow())).toBe(oldSecret);

      await stage().n8n.deactivate(workflow().id);
      await write('Between unpublishing and publishing');
      await stage().n8n.activate(workflow().id);
      await stage().untilReceiving(workflow(), [EVENT], [first!]);
      await stage().until('the third execution', async () => (await countExecutions()) === 3);
      expect(await stage().secretOf(workflow())).not.toBe(oldSecret);
      const body = JSON.stringify({
        id: 'evt_old_secret',
        event: EVENT,
        conversation: { id: conversationId },
      });
      const signing = { secret: oldSecret, event: EVENT };
      expect((await stage().deliver(workflow(), body, signing)).status).toBe(401);
      await write('After it');
      await stage().until('the fourth execution', async () => (await countExecutions()) === 4);
      expect(await warnings()).toBe(1);
    });
  });
}
