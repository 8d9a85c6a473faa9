import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Workflow } from '../../n8nServer.ts';
import { recordEvents, TRIGGER, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';

const EVENT = 'message.received';
const WARNING = 'The secret of this subscription was rotated';

/**
 * A workflow goes on through a rotation, says that it must be published again, and has the new
 * secret then.
 */
export function provesRotation(stage: () => Stage): void {
  describe('rotating the secret of a trigger', () => {
    const workflow = withWorkflow(stage, recordEvents, { events: [EVENT] });
    const warnings = async () =>
      (await readFile(stage().n8n.logFile, 'utf8')).split(WARNING).length - 1;

    /**
     * A workflow that rotates the secret of a subscription whenever a conversation is handed over.
     */
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
        position: [480, 0] as [number, number],
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

    it("loses nothing, warns in n8n's log, and is over when the workflow is published again", async () => {
      const [first] = await stage().subscriptionsOf(workflow());
      const old = await stage().secretOf(workflow());
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
      const executions = async () =>
        (await stage().executionsOf(workflow(), conversationId)).length;
      await stage().until('the second execution', async () => (await executions()) === 2);
      expect(await warnings()).toBe(1);
      expect(await stage().secretOf(workflow())).toBe(old);

      await stage().n8n.deactivate(workflow().id);
      await write('Between unpublishing and publishing');
      await stage().n8n.activate(workflow().id);
      await stage().untilReceiving(workflow(), [EVENT], [first!]);
      await stage().until('the third execution', async () => (await executions()) === 3);
      expect(await stage().secretOf(workflow())).not.toBe(old);
      const body = JSON.stringify({
        id: 'evt_old_secret',
        event: EVENT,
        conversation: { id: conversationId },
      });
      expect((await stage().deliver(workflow(), body, { secret: old, event: EVENT })).status).toBe(
        401,
      );
      await write('After it');
      await stage().until('the fourth execution', async () => (await executions()) === 4);
      expect(await warnings()).toBe(1);
      expect(TRIGGER in rotation.output).toBe(true);
    });
  });
}
